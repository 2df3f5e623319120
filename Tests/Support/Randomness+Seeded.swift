import Proofs
import Synchronization

extension Randomness {
    /// Randomness with the same sequence in every run (SplitMix64).
    package static func seeded(_ seed: UInt64) -> Randomness {
        let state = Counter(seed)
        return Randomness { state.next() }
    }
}

private final class Counter: Sendable {
    private let state: Mutex<UInt64>

    init(_ seed: UInt64) {
        state = Mutex(seed)
    }

    func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
