"""Recording what memory a program takes."""
