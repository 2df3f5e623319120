import Proofs
import Synchronization

/// A random secret of the ledger, by its purpose. It is made when it is first needed, and never changes: rows depend on it. Exports and
/// backups contain it.
package enum LedgerSecret: String, Sendable, SQLConvertible {
    /// The key of the names of purchase tokens.
    case purchaseTokens

    /// The number of bytes.
    static let size = 32
}

/// The secrets that this process has read.
final class KnownSecrets: Sendable {
    private let known = Mutex<[LedgerSecret: [UInt8]]>([:])

    subscript(secret: LedgerSecret) -> [UInt8]? {
        get { known.withLock { $0[secret] } }
        set { known.withLock { $0[secret] = newValue } }
    }
}

extension Ledger {
    /// A secret of the ledger. The first call makes it, and each process reads it once.
    ///
    /// - Throws: `StorageFault`.
    package func secret(_ secret: LedgerSecret) async throws -> [UInt8] {
        if let known = secrets[secret] { return known }
        let found = try await read(.statement) { try $0.secret(secret) }
        // Only what is durable is remembered: a secret of an undone commit would name what nobody finds again.
        let bytes = if let found { found } else { try await write { try $0.makeSecret(secret) } }
        secrets[secret] = bytes
        return bytes
    }
}

extension LedgerTransaction {
    /// A secret of the ledger; nil before it was first needed.
    package func secret(_ secret: LedgerSecret) throws -> [UInt8]? {
        try database.value("SELECT secret FROM ledger_secret WHERE purpose = $1", [secret])
    }

    /// Another process may have made it meanwhile. Then that one counts.
    fileprivate func makeSecret(_ secret: LedgerSecret) throws -> [UInt8] {
        try database.insert(
            into: "ledger_secret", ["purpose", "secret"], [[secret, randomness.bytes(LedgerSecret.size)]], isNew: false)
        guard let bytes = try self.secret(secret) else { throw damaged }
        return bytes
    }
}

extension Table {
    static let ledgerSecret = Table(
        name: "ledger_secret", family: .everywhere,
        columns: [.text("purpose"), .blob("secret", count: LedgerSecret.size)], key: ["purpose"])
}
