"""Reading facts from AWS, from this installation and from the repository; nothing here judges."""
