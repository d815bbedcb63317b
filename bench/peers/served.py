"""`gateway serve` as in production, but that it may reach its backends on this machine by http.

Settings come from the environment, and as for a sandbox, which alone allows http; what only a sandbox has (metrics,
pages, CORS for this machine) is left out again.
"""

from gateway import app
from gateway.serving.serve import serve
from gateway.settings import DEMO_DOMAINS, load_settings
from gateway.wiring.tenants import issuers

if __name__ == "__main__":
    settings = load_settings()
    app.issuers = lambda _, roles: issuers(settings, roles)  # type: ignore[attr-defined]
    serve(settings.model_copy(update={"environment": "production", "domains": list(DEMO_DOMAINS)}))
