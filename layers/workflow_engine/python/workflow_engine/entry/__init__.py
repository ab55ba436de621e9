"""From a Lambda event to an engine call and back."""
