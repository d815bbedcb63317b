const FEW = 5;

export function Stock({ available }: { available: number }) {
  if (available === 0) return <span className="stock none">Sold out</span>;
  if (available <= FEW) return <span className="stock few">Only {available} left</span>;
  return <span className="stock">{available} in stock</span>;
}
