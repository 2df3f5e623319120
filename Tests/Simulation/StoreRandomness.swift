import Proofs
import Synchronization
import TestSupport

/// The randomness of a simulated store, of which two may draw the same identifiers of transactions.
///
/// Xcode's identifiers begin at "0" in every app. The identifiers of notifications are unique in all apps, so that only decimal
/// digits follow the series.
final class StoreRandomness: Sendable {
    private let dice: Dice
    private let seed: UInt64
    private let digits: Mutex<Randomness>

    /// - Parameter seed: Stores with one seed draw the same digits in a series of the same number.
    init(_ dice: Dice, seed: UInt64) {
        self.dice = dice
        self.seed = seed
        digits = Mutex(.seeded(seed))
    }

    var randomness: Randomness { Randomness { self.next() } }

    /// Begins to draw the digits of a series.
    func begin(series number: Int) {
        digits.withLock { $0 = .seeded(seed &+ UInt64(number) &* 0xD134_2543_DE82_EF95) }
    }

    /// `Randomness.digits` takes the number modulo 10, `Randomness.bytes` modulo 256. Both are even or both are odd.
    private func next() -> UInt64 {
        let digit = UInt64(digits.withLock { $0.bytes(1)[0] }) % 10
        let byte = UInt64(dice.randomness.bytes(1)[0] & 0xFE) | digit & 1
        let number = (0..<5).map { byte + 256 * $0 }.first { $0 % 10 == digit }
        return (number ?? byte) << 32
    }
}
