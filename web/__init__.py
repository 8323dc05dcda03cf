"""The HTTP face: Flask application, routes and event relays."""
