"""Images: JPEG, PNG, GIF and BMP to arrays and back, with TensorFlow's values. Needs the extra `image`."""
