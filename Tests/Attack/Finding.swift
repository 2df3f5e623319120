/// A quantity that an attack must not push beyond its limits.
struct Finding: Sendable, CustomStringConvertible {
    private let name: String
    private let value: Int
    private let limits: ClosedRange<Int>

    init(_ name: String, _ value: Int, in limits: ClosedRange<Int>) {
        self.name = name
        self.value = value
        self.limits = limits
    }

    var isWithinLimits: Bool { limits.contains(value) }

    var description: String { "\(value) \(name) (\(limitsText))" }

    private var limitsText: String {
        if limits.upperBound == .max { return "at least \(limits.lowerBound)" }
        return limits.count == 1 ? "expected \(limits.lowerBound)" : "at most \(limits.upperBound)"
    }
}
