"""Training of a static sentence encoder by distillation from an English one."""
