/// Where the time of day comes from, so that a test or a simulation can own it.
public protocol WallClock: Sendable {
    func now() -> Timestamp
}
