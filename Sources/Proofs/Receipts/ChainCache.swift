import Synchronization

/// A cache of valid chains. Apple signs with a handful of chains, and validating one verifies three signatures.
///
/// The cache is limited in entries and in bytes, and evicts the oldest entry first. It never stores refusals. It stores
/// a chain only after a signature under it was valid, so only a signer can evict others. The key of an app receipt's
/// chain is the certificates of the validated path, because a receipt does not sign the others. The key of a JWS's chain
/// is its header, which is signed.
final class ChainCache: Sendable {
    static let capacity = 32
    /// The maximum size of the certificates and headers of all entries, in bytes.
    static let maximumBytes = 512 * 1024

    /// A chain and its cache key.
    final class Entry: Sendable {
        /// Of a JWS, its base64url header. Of a container, the issuer and the serial number that name the signer, then the
        /// certificates below the anchor.
        let key: [[UInt8]]
        let chain: ValidatedChain
        /// The hash of a JWS's header; nil for a container.
        let headerDigest: SHA256State?

        /// The entry of a JWS.
        init(_ signed: SignedJSON, _ chain: ValidatedChain, headerDigest: SHA256State) {
            key = [Array(signed.header)]
            self.chain = chain
            self.headerDigest = headerDigest
        }

        /// The entry of a container.
        init(_ signedData: SignedData, _ chain: ValidatedChain) {
            // The container's copy of the anchor is ignored.
            let certificates = chain.path.count == 1 ? chain.path : chain.path.dropLast()
            key = [signedData.signer.issuer, signedData.signer.serialNumber] + certificates.map(\.der)
            self.chain = chain
            headerDigest = nil
        }

        fileprivate var size: Int { key.reduce(0) { $0 + $1.count } }

        fileprivate func matches(_ header: ArraySlice<UInt8>) -> Bool {
            headerDigest != nil && key[0][...].hasSameBytes(as: header)
        }

        fileprivate func matches(_ signedData: SignedData) -> Bool {
            headerDigest == nil && key[0][...].hasSameBytes(as: signedData.signer.issuer[...])
                && key[1][...].hasSameBytes(as: signedData.signer.serialNumber[...])
                && key[2...].allSatisfy { certificate in
                    signedData.certificates.contains { $0.hasSameBytes(as: certificate[...]) }
                }
        }
    }

    /// The lock is held only to copy a reference or to replace the list, never during comparisons.
    private let entries = Mutex<[Entry]>([])

    var count: Int { entries.withLock { $0.count } }

    /// True if the cache has the chain of a JWS with this header, valid or not at its date.
    func contains(header: ArraySlice<UInt8>) -> Bool {
        entries.withLock { $0 }.contains { $0.matches(header) }
    }

    /// The cached chain of a JWS if it is valid at the moment.
    func find(_ signed: SignedJSON, at moment: Timestamp) -> Entry? {
        entries.withLock { $0 }.first { $0.matches(signed.header) && $0.chain.holds(at: moment) }
    }

    /// The cached chain of a container if it is valid at the moment.
    func find(_ signedData: SignedData, at moment: Timestamp) -> Entry? {
        entries.withLock { $0 }.first { $0.matches(signedData) && $0.chain.holds(at: moment) }
    }

    func insert(_ entry: Entry) {
        guard entry.size <= Self.maximumBytes / 8 else { return }
        entries.withLock { entries in
            // Two threads may have validated the same chain.
            guard !entries.contains(where: { $0.key == entry.key }) else { return }
            entries.append(entry)
            while entries.count > Self.capacity || entries.reduce(0, { $0 + $1.size }) > Self.maximumBytes {
                entries.removeFirst()
            }
        }
    }
}

/// A chain that leads to a trust anchor, with the period in which it is valid.
final class ValidatedChain: Sendable {
    /// The leaf first, the anchor's certificate last. Xcode's chain has one certificate.
    let path: [Certificate]
    let anchor: TrustAnchor
    let key: PublicKey
    let fingerprints: VerifiedProof.Fingerprints
    /// The period in which every certificate of the path is valid, in seconds since 1970.
    private let notBefore: Int64
    private let notAfter: Int64

    /// - Parameter path: At least one certificate.
    init(path: [Certificate], anchor: TrustAnchor) {
        self.path = path
        self.anchor = anchor
        key = (path.first ?? anchor.certificate).publicKey
        fingerprints = VerifiedProof.Fingerprints(
            anchor: anchor.certificate.fingerprint, leaf: (path.first ?? anchor.certificate).fingerprint)
        notBefore = path.map(\.notBefore).max() ?? 0
        notAfter = path.map(\.notAfter).min() ?? 0
    }

    func holds(at moment: Timestamp) -> Bool {
        // OpenSSL treats the last second as expired. The cache must agree with it.
        notBefore <= moment.secondsSince1970 && moment.secondsSince1970 < notAfter
    }
}
