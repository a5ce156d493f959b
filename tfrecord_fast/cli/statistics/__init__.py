"""What `tfrecord-fast stats` says of files: figures collected in one pass, and a table, JSON or a page made of them."""
