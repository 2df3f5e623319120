import Ledger
import Proofs

extension LedgerTransaction {
    /// A kept proof of a user's transactions.
    ///
    /// - Parameter digest: The SHA-256 of the signed bytes.
    /// - Returns: Nil if no such proof was kept.
    func storedProof(_ digest: [UInt8], of user: User) throws -> StoredProof? {
        guard try database.has("kept_proof"), let user = try users.known(user) else { return nil }
        return try database.row(
            "SELECT bytes, certificates FROM kept_proof WHERE user_id = $1 AND proof_digest = $2", [user, digest]
        ).map { StoredProof(bytes: try proof($0)) }
    }

    private func proof(_ row: SQLRow) throws -> [UInt8]? {
        var certificates: [[UInt8]] = []
        for digest in KeptProof.certificateDigests(try row["certificates"]) {
            guard
                let bytes: [UInt8] = try database.value(
                    "SELECT bytes FROM kept_certificate WHERE digest = $1", [digest])
            else { return nil }
            certificates.append(bytes)
        }
        return KeptProof.assemble(try row["bytes"], certificates)
    }
}

extension KeptProof {
    private static let digestLength = 32

    /// The digests in the column `certificates`, where they follow each other.
    static func certificateDigests(_ list: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: list.count, by: digestLength).map { start in
            Array(list[start..<min(start + digestLength, list.count)])
        }
    }
}
