import Synchronization

/// The intermediates of valid chains, parsed and validated once. Apple issues leaves from a handful of them, so an unknown leaf
/// mostly costs one signature of P-384 instead of two.
///
/// An intermediate is kept after a signature under its chain was valid, so only a signer can evict others. The oldest goes first.
final class KnownIntermediates: Sendable {
    private static let capacity = 8
    private static let maximumSize = 16 * 1024

    /// An intermediate that a root has issued.
    private final class Entry: Sendable {
        let certificate: Certificate
        let root: Certificate
        /// The intermediate as the end of paths.
        let store: CertificateStore

        init?(_ certificate: Certificate, issuedBy root: Certificate) {
            // A path that ends here does not meet the root's constraints on the names below it.
            guard certificate.der.count <= KnownIntermediates.maximumSize, !root.hasNameConstraints,
                let store = try? CertificateStore(endingAt: certificate)
            else { return nil }
            self.certificate = certificate
            self.root = root
            self.store = store
        }
    }

    private let entries = Mutex<[Entry]>([])

    /// Reads a certificate, or returns the kept one with these bytes.
    func certificate(_ der: [UInt8]) -> Certificate? {
        entries.withLock { $0 }.first { $0.certificate.der == der }?.certificate ?? Certificate(der: der)
    }

    /// The path of a leaf through a kept intermediate, each of whose certificates is valid at the moment.
    ///
    /// - Returns: Nil if there is none. The path through the trusted roots then says why.
    /// - Throws: `CertificatePathError.untrusted` if the only intermediate has not issued the leaf.
    func path(
        from leaf: Certificate, through others: [Certificate], at moment: Int64
    ) throws(CertificatePathError) -> [Certificate]? {
        for entry in entries.withLock({ $0 }) where others.contains(entry.certificate) {
            guard leaf.issuer == entry.certificate.subject, entry.root.isValid(at: moment),
                entry.certificate.isValid(at: moment)
            else { continue }
            do throws(CertificatePathError) {
                return try entry.store.path(from: leaf, through: [], at: moment) + [entry.root]
            } catch {
                // Trying the roots would verify the same signature again.
                if error == .untrusted, others.count == 1 { throw error }
            }
        }
        return nil
    }

    /// Keeps the intermediate of a chain of three certificates, as Apple's are. Another chain is verified whole each time, and so is one
    /// below a root with name constraints, which a path from the intermediate on would not meet.
    func insert(_ path: [Certificate]) {
        guard path.count == 3, !entries.withLock({ $0 }).contains(where: { $0.certificate == path[1] }),
            let entry = Entry(path[1], issuedBy: path[2])
        else { return }
        entries.withLock { entries in
            // Two threads may have validated the same chain.
            guard !entries.contains(where: { $0.certificate == entry.certificate }) else { return }
            entries.append(entry)
            if entries.count > Self.capacity { entries.removeFirst() }
        }
    }
}
