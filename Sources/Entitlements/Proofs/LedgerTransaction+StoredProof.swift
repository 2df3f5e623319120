import Commerce
import Ledger
import Receipts

extension LedgerTransaction {
    /// The maximum number of users of one proof that are returned.
    private static let maximumUsers = 10

    /// A kept proof.
    ///
    /// - Parameter digest: The SHA-256 of the signed bytes.
    /// - Returns: Nil if no such proof was kept.
    func storedProof(_ digest: [UInt8]) throws -> StoredProof? {
        guard try database.has("kept_proof") else { return nil }
        let rows = try database.rows(
            """
            SELECT user_id, bytes, certificates FROM kept_proof \(database.indexed(by: "kept_proof_by_digest"))
            WHERE proof_digest = $1 ORDER BY user_id LIMIT $2
            """,
            [digest, Self.maximumUsers])
        guard let first = rows.first else { return nil }
        let numbers = try rows.map { try $0["user_id"] as Int64 }
        let names = try users.names(of: Set(numbers))
        return StoredProof(
            bytes: try proof(first), users: numbers.compactMap { names[$0] }.filter { $0.issuer != User.erasedIssuer })
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
