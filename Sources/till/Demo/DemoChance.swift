import Proofs
import Synchronization

/// The chance of a demonstration: the same numbers for the same seed (SplitMix64; Steele, Lea and Flood 2014).
final class DemoChance: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) {
        state = Mutex(seed)
    }

    var randomness: Randomness {
        Randomness { self.next() }
    }

    func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// True in a number of cases out of a thousand.
    func happens(perMille: Int) -> Bool { number(below: 1000) < perMille }

    func element<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    private func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }
}
