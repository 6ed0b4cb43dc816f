"""Settings, history and the public function ``fit``."""
