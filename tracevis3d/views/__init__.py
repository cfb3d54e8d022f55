"""What all views share: their contract and registry, actions, lists, filters, and what an element is."""
