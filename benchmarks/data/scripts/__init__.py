"""Scripts as people publish them for TensorFlow, each read as text; nothing imports them."""
