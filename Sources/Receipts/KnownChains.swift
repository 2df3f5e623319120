import Commerce
import Signatures
import Synchronization

/// A cache of the chains that were judged good. Apple signs with a handful, and judging one costs three signatures.
///
/// The cache is limited in entries and in bytes; the oldest entry goes first. Refusals are never kept. A chain is kept only
/// after a signature under it has held, so that only a signer can push others out. An app receipt's chain is known by the
/// certificates of its judged path, since nothing signs the others; a JWS's chain by its header, which is signed.
final class KnownChains: Sendable {
    static let capacity = 32
    /// The certificates and headers of all entries, in bytes.
    static let maximumBytes = 512 * 1024

    /// A chain, and the bytes by which a proof brings it.
    final class Entry: Sendable {
        enum Key: Equatable, Sendable {
            /// The header of a JWS, in base64url.
            case header([UInt8])
            /// The signer that a PKCS#7 container names, and the certificates below the anchor.
            case path(issuer: [UInt8], serialNumber: [UInt8], certificates: [[UInt8]])
        }

        let key: Key
        let chain: JudgedChain
        /// The hash of a JWS's header.
        let headerDigest: SHA256State?

        fileprivate init(_ key: Key, _ chain: JudgedChain, headerDigest: SHA256State?) {
            self.key = key
            self.chain = chain
            self.headerDigest = headerDigest
        }

        /// The entry of a JWS.
        convenience init(_ signed: SignedJSON, _ chain: JudgedChain, headerDigest: SHA256State) {
            self.init(.header(Array(signed.header)), chain, headerDigest: headerDigest)
        }

        /// The entry of a container.
        convenience init(_ signedData: SignedData, _ chain: JudgedChain) {
            // The anchor is ours; one that comes along says nothing.
            let certificates = chain.path.count == 1 ? chain.path : chain.path.dropLast()
            self.init(
                .path(
                    issuer: signedData.signer.issuer, serialNumber: signedData.signer.serialNumber,
                    certificates: certificates.map(\.der)), chain,
                headerDigest: nil)
        }

        fileprivate var size: Int {
            switch key {
            case .header(let header): header.count
            case .path(let issuer, let serialNumber, let certificates):
                certificates.reduce(issuer.count + serialNumber.count) { $0 + $1.count }
            }
        }

        fileprivate func isBrought(by header: ArraySlice<UInt8>) -> Bool {
            guard case .header(let own) = key else { return false }
            return own[...].hasSameBytes(as: header)
        }

        fileprivate func isBrought(by signedData: SignedData) -> Bool {
            guard case .path(let issuer, let serialNumber, let certificates) = key else { return false }
            return issuer[...].hasSameBytes(as: signedData.signer.issuer[...])
                && serialNumber[...].hasSameBytes(as: signedData.signer.serialNumber[...])
                && certificates.allSatisfy { certificate in
                    signedData.certificates.contains { $0.hasSameBytes(as: certificate[...]) }
                }
        }
    }

    /// Held to copy a reference, or to replace the list: never while anything is compared.
    private let entries = Mutex<[Entry]>([])

    var count: Int { entries.withLock { $0.count } }

    /// Whether a JWS with this header brings a known chain, valid or not at its date.
    func contains(header: ArraySlice<UInt8>) -> Bool {
        entries.withLock { $0 }.contains { $0.isBrought(by: header) }
    }

    /// The chain of a JWS, if it holds at a moment.
    func find(_ signed: SignedJSON, at moment: Timestamp) -> Entry? {
        entries.withLock { $0 }.first { $0.isBrought(by: signed.header) && $0.chain.holds(at: moment) }
    }

    /// The chain of a container, if it holds at a moment.
    func find(_ signedData: SignedData, at moment: Timestamp) -> Entry? {
        entries.withLock { $0 }.first { $0.isBrought(by: signedData) && $0.chain.holds(at: moment) }
    }

    func remember(_ entry: Entry) {
        guard entry.size <= Self.maximumBytes / 8 else { return }
        entries.withLock { entries in
            // Two threads may have judged the same chain.
            guard !entries.contains(where: { $0.key == entry.key }) else { return }
            entries.append(entry)
            while entries.count > Self.capacity || entries.reduce(0, { $0 + $1.size }) > Self.maximumBytes {
                entries.removeFirst()
            }
        }
    }
}
