import Foundation
import GRDB
import Proofs

/// A key that signs the requests of a developer's server (App Store Connect, "In-App Purchase key").
package struct TeamKey: Hashable, Sendable {
    /// The `kid` of its tokens.
    package let keyIdentifier: String
    /// The `iss` of its tokens.
    package let issuerIdentifier: String
    /// The public key in PEM.
    package let publicKey: String
}

extension Store {
    /// Makes a key. The store keeps only the public key.
    ///
    /// - Parameter keep: Receives the key and its private key in PEM (PKCS#8, a `.p8` file). If it throws, no key is made.
    package func makeTeamKey(
        keepingPrivateKey keep: (_ key: TeamKey, _ privateKey: String) throws -> Void
    ) throws -> TeamKey {
        let pair: PrivateKey
        let pem: (public: String, private: String)
        do {
            pair = try PrivateKey.generate(.p256)
            pem = (try pair.publicKey.pem(), try pair.pem())
        } catch { throw StoreError.signingFailed("\(error)") }
        return try writeOrThrow { books in
            let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
            let identifier = String(books.randomness.bytes(10).map { alphabet[Int($0) % alphabet.count] })
            let key = TeamKey(
                keyIdentifier: identifier, issuerIdentifier: try books.issuerIdentifier(),
                publicKey: pem.public)
            try books.database.insert(
                ["key_id": identifier, "issuer_id": key.issuerIdentifier, "public_key": key.publicKey],
                into: "team_key")
            try keep(key, pem.private)
            return key
        }
    }
}

extension Books {
    /// The issuer identifier of the team, the same for all its keys.
    fileprivate func issuerIdentifier() throws -> String {
        try teamKeys().first?.issuerIdentifier ?? UUID(randomness: randomness).lowercasedString
    }

    package func teamKeys() throws -> [TeamKey] {
        try teamKeyQueue?.read(Self.teamKeys) ?? Self.teamKeys(in: database)
    }

    @Sendable private static func teamKeys(in database: Database) throws -> [TeamKey] {
        try Row.fetchAll(database, sql: "SELECT * FROM team_key ORDER BY rowid").map {
            TeamKey(keyIdentifier: $0["key_id"], issuerIdentifier: $0["issuer_id"], publicKey: $0["public_key"])
        }
    }
}
