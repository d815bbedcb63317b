// A picture for a product that has none: the same shapes for the same name, in the tenant's colours.

const SHAPES = 3;

export function Picture({ name }: { name: string }) {
  const number = seeded(name);
  return (
    <svg className="picture" viewBox="0 0 160 90" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      {Array.from({ length: SHAPES }, (_, index) => {
        const [x, y, size] = [10 + number() * 140, 10 + number() * 70, 22 + number() * 34];
        return index % 2 === Math.round(number()) ? (
          <circle key={index} className={`shape-${index}`} cx={x} cy={y} r={size} />
        ) : (
          <rect
            key={index}
            className={`shape-${index}`}
            x={x - size}
            y={y - size}
            width={size * 1.7}
            height={size * 1.7}
            rx={size / 5}
            transform={`rotate(${Math.round(number() * 90)} ${x} ${y})`}
          />
        );
      })}
    </svg>
  );
}

function seeded(name: string): () => number {
  let state = 2166136261;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2246822507);
    state = Math.imul(state ^ (state >>> 13), 3266489909);
    return ((state ^= state >>> 16) >>> 0) / 4294967296;
  };
}
