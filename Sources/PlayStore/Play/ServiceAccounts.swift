import Foundation
import GRDB
import HTTPSupport
import Proofs

/// A service account, with which a server calls the API.
package struct ServiceAccount: Codable, Hashable, Sendable {
    package let email: String
    /// The identifier of its key (`private_key_id`).
    package let keyIdentifier: String
    /// The number of the account (`client_id`).
    package let clientIdentifier: String
    /// The public key in base64 of its SubjectPublicKeyInfo. The Play does not keep the private key.
    let publicKey: String
    /// The apps that the account may ask about; nil for all.
    package let packageNames: [String]?

    func mayUse(_ packageName: String) -> Bool { packageNames?.contains(packageName) ?? true }
}

/// The key file of a service account, as Google Cloud writes it.
package struct ServiceAccountKey: Codable, Sendable {
    package let type: String
    package let projectId: String
    package let privateKeyId: String
    package let privateKey: String
    package let clientEmail: String
    package let clientId: String
    /// The address that turns signed assertions into access tokens.
    package internal(set) var tokenUri: String
    package let universeDomain: String

    private enum CodingKeys: String, CodingKey {
        case type
        case projectId = "project_id"
        case privateKeyId = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case clientId = "client_id"
        case tokenUri = "token_uri"
        case universeDomain = "universe_domain"
    }

    /// The content of the file.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

extension PlayBooks {
    private static let project = "till-local-play"

    /// Makes a service account.
    ///
    /// - Parameters:
    ///   - url: The address of the Play.
    ///   - packageNames: The apps that the account may ask about; nil for all.
    package func makeServiceAccount(at url: URL, for packageNames: [String]? = nil) throws -> ServiceAccountKey {
        for packageName in packageNames ?? [] where try !hasApp(packageName) {
            throw PlayError.appNotFound(packageName)
        }
        let key = try PrivateKey.generateRSA()
        let name = String(decoding: randomness.bytes(8).map { UInt8(ascii: "a") + $0 % 26 }, as: UTF8.self)
        let account = ServiceAccount(
            email: "\(name)@\(Self.project).iam.gserviceaccount.com",
            keyIdentifier: randomness.bytes(20).hexadecimal, clientIdentifier: randomness.digits(21, startingWith: "1"),
            publicKey: try key.publicKey.informationText(), packageNames: packageNames)
        try database.execute(
            literal: """
                INSERT INTO service_account (email, record) VALUES (\(account.email), \(try PlayRecord.text(account)))
                """)
        return ServiceAccountKey(
            type: "service_account", projectId: Self.project, privateKeyId: account.keyIdentifier,
            privateKey: try key.pem(), clientEmail: account.email, clientId: account.clientIdentifier,
            tokenUri: Self.tokenAddress(at: url), universeDomain: "googleapis.com")
    }

    /// The key of the account for a server beside the Play, from its file. A file without a key of this Play gets a new one.
    ///
    /// - Parameter url: The address of the Play, which may have another port than in the file.
    package func serviceAccountKey(keptIn file: URL, at url: URL) throws -> ServiceAccountKey {
        let kept = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(ServiceAccountKey.self, from: $0) }
        if var kept, let account = try serviceAccount(kept.clientEmail), account.keyIdentifier == kept.privateKeyId {
            kept.tokenUri = Self.tokenAddress(at: url)
            return kept
        }
        let key = try makeServiceAccount(at: url)
        try PrivateFile.replace(file, with: try key.json())
        return key
    }

    private static func tokenAddress(at url: URL) -> String { url.appending(path: "token").absoluteString }

    func serviceAccount(_ email: String) throws -> ServiceAccount? {
        try SQLRequest<String>("SELECT record FROM service_account WHERE email = \(email)").fetchOne(database)
            .map { try PlayRecord.value($0) }
    }
}
