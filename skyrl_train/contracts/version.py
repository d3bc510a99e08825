VERSION = "0.1.0"
TAG = ""
