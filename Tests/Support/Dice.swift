import Proofs

/// The random numbers of one simulation. The same seed gives the same numbers.
public struct Dice: Sendable {
    public let randomness: Randomness

    public init(seed: UInt64) {
        randomness = .seeded(seed)
    }

    /// A random number from 0 to below the limit.
    public func number(below limit: Int) -> Int {
        Int(randomness.bytes(4).reduce(0) { $0 << 8 | UInt64($1) } % UInt64(limit))
    }

    public func happens(_ percent: Int) -> Bool { number(below: 100) < percent }

    /// A random element; nil if there are none.
    public func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[number(below: elements.count)]
    }

    public func shuffle<Element>(_ elements: [Element]) -> [Element] {
        var rest = elements
        return elements.indices.map { _ in rest.remove(at: number(below: rest.count)) }
    }
}
