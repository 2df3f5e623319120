import Commerce
import Signatures
import Synchronization

/// The chains that were judged good, by the bytes in which a proof brings them: Apple signs with a handful, and judging one
/// costs three signatures.
///
/// Bounded, oldest out first. Refusals are never kept, and a chain is kept only after a signature under it has held, so that
/// nobody who cannot sign can push others out.
final class KnownChains: Sendable {
    static let capacity = 32

    /// A chain, and the hash of a JWS's header, which brings it.
    final class Entry: Sendable {
        let bytes: ArraySlice<UInt8>
        let chain: JudgedChain
        let headerDigest: SHA256State?

        init(bytes: ArraySlice<UInt8>, chain: JudgedChain, headerDigest: SHA256State?) {
            // A copy of its own: a slice would keep the whole proof in memory.
            self.bytes = Array(bytes)[...]
            self.chain = chain
            self.headerDigest = headerDigest
        }
    }

    /// Held to copy a reference, or to replace the list: never while anything is compared.
    private let entries = Mutex<[Entry]>([])

    /// The chain that these bytes bring, if it holds at a moment.
    func find(_ bytes: ArraySlice<UInt8>, at moment: Timestamp) -> Entry? {
        let entries = entries.withLock { $0 }
        return entries.first { $0.bytes.hasSameBytes(as: bytes) && $0.chain.holds(at: moment) }
    }

    func remember(_ entry: Entry) {
        entries.withLock { entries in
            if entries.count == Self.capacity { entries.removeFirst() }
            entries.append(entry)
        }
    }
}
