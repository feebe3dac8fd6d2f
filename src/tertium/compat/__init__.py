"""Other packages' interfaces, so that code written for them needs one import changed."""
