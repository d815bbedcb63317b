export function Live({ isLive }: { isLive: boolean }) {
  return isLive ? (
    <span className="live" title="Changes appear here by themselves">
      Live
    </span>
  ) : null;
}
