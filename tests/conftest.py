"""What every test shares: properties are not judged by the clock of a busy machine."""

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
