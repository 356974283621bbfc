"""What all tests share."""

from hypothesis import settings

# A deadline is a check of elapsed time: speed is measured in bench/, on purpose and as a ratio.
settings.register_profile("graymatter", deadline=None)
settings.load_profile("graymatter")
