export function Live({ isLive }: { isLive: boolean }) {
  return isLive ? (
    <span className="live" title="This page updates by itself">
      Live
    </span>
  ) : null;
}
