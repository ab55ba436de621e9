"""Pages that are written from the code or computed: the API reference and the costs."""
