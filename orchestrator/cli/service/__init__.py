"""The service and its parts: started, looked after, and who may use it."""
