"""The one door to the outside: everything the doctor learns goes through a Machine."""
