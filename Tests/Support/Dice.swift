import Proofs

/// The random numbers of one simulation. The same seed gives the same numbers.
package struct Dice: Sendable {
    package let randomness: Randomness

    package init(seed: UInt64) {
        randomness = .seeded(seed)
    }

    /// A random number from 0 to below the limit.
    package func number(below limit: Int) -> Int {
        Int(randomness.bytes(4).reduce(0) { $0 << 8 | UInt64($1) } % UInt64(limit))
    }

    package func happens(_ percent: Int) -> Bool { number(below: 100) < percent }

    /// A random element; nil if there are none.
    package func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[number(below: elements.count)]
    }

    package func shuffle<Element>(_ elements: [Element]) -> [Element] {
        var rest = elements
        return elements.indices.map { _ in rest.remove(at: number(below: rest.count)) }
    }
}
