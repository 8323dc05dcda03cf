"""What answers show: the models that are rendered and described alike, by what they are about."""
