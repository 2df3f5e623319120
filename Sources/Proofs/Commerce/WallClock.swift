/// A source of the time of day. Tests and simulations supply their own.
public protocol WallClock: Sendable {
    func now() -> Timestamp
}
