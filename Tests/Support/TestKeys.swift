import Proofs
import Synchronization

/// RSA keys for a local Google Play of a test. All tests share them, because making one takes a sixth of a second of a processor.
///
/// Each Play gets them in the same order, so the keys of one Play differ, and those of two do not.
package final class TestKeys: Sendable {
    private static let made = Mutex<[PrivateKey]>([])

    private let given = Atomic(0)

    package init() {}

    package func next() throws -> PrivateKey {
        let index = given.add(1, ordering: .relaxed).oldValue
        return try Self.made.withLock { made in
            while made.count <= index { made.append(try PrivateKey.generateRSA()) }
            return made[index]
        }
    }
}
