"""From stacks and samples to the begins and ends of calls."""
