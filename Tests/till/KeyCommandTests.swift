import Foundation
import Proofs
import TestSupport
import Testing
import till

@Suite struct KeyCommandTests {
    private struct Listed: Decodable {
        struct Key: Decodable {
            let keyId: String
            let expiresAt: String?
            let lastUsedAt: String?
        }

        let keys: [Key]
    }

    let till: TillProcess

    init() throws {
        till = try TillProcess(hasKeys: false)
    }

    @Test func `a new key's scopes, app and expiry are on standard error`() async throws {
        let made = try await till.run("keys", "make", "shop")
        #expect(made.error.contains("Scopes: read, redeem.\n"))
        #expect(made.output.hasPrefix("till_") && made.output.split(separator: "\n").count == 1)
        let limited = try await till.run(
            "keys", "make", "desk", "--scope", "support", "--bundle-id", "com.example.garden", "--until",
            "2999-01-31")
        #expect(
            limited.error.contains("Scopes: support. App: com.example.garden. Expires: 2999-01-31T00:00:00Z.\n"))
    }

    @Test func `a key names the person who holds it`() async throws {
        let made = try await till.run("keys", "make", "refunds", "--scope", "stores", "--person", "ada")
        #expect(made.error.contains("Scopes: stores. Person: ada.\n"))
        let list = try await till.run("keys", "list").output
        #expect(list.contains("PERSON") && list.contains("ada"))
        let refused = try await till.run("keys", "make", "refunds", "--person", " ")
        #expect(refused.status == 64 && refused.error.contains("is not a person's name"))
    }

    @Test func `a public key is listed with its app and platform, made once, and revoked`() async throws {
        let made = try await till.run("keys", "make", "--public", "--bundle-id", "com.example.garden")
        let key = made.output.trimmingCharacters(in: .newlines)
        #expect(key.wholeMatch(of: /appl_[0-9a-f]{32}/) != nil, "\(made.output)")
        #expect(made.error.contains("Public key for apple. App: com.example.garden.\n"))
        let list = try await till.run("keys", "list").output
        #expect(list.contains(key) && list.contains("public apple") && list.contains("com.example.garden"))
        let again = try await till.run(
            "keys", "make", "--public", "--bundle-id", "com.example.garden", "--platform", "apple")
        #expect(again.status == 1)
        #expect(again.error.contains("The app \"com.example.garden\" has the public key \(key)"))
        #expect(try await till.run("keys", "revoke", key).status == 0)
        #expect(
            try await till.run("keys", "make", "garden", "--public", "--bundle-id", "com.example.garden").status == 0)
    }

    @Test(arguments: [
        (["--public"], "A public key is for one app. Name it with --bundle-id."),
        (["--public", "--bundle-id", "a.b", "--scope", "read"], "A public key has no scopes. Leave out --scope."),
        (["--public", "--bundle-id", "a.b", "--until", "90d"], "A public key does not expire"),
        (["--public", "--bundle-id", "a.b", "--person", "ada"], "A public key is an app's. Leave out --person."),
        (["shop", "--platform", "apple"], "--platform is for public keys. Add --public, or leave it out."),
        (["--bundle-id", "a.b"], "Missing expected argument '<name>'"),
    ])
    func `options that do not fit the kind of a key are refused`(options: [String], message: String) async throws {
        let refused = try await till.run(arguments: ["keys", "make"] + options)
        #expect(refused.status == 64)
        #expect(refused.error.contains(message))
    }

    @Test func `an expiry is a number of days, a date or a time`() {
        let now = Timestamp(secondsSince1970: 1_790_000_000)
        for (text, seconds) in [
            ("1d", 1_790_086_400), ("90d", 1_797_776_000), ("1970-01-02", 86_400),
            ("1970-01-02T01:00:00+01:00", 86_400),
        ] {
            #expect(KeyExpiry.moment(text, from: now) == Timestamp(secondsSince1970: Int64(seconds)), "\(text)")
        }
        for text in ["", "d", "0d", "-1d", "36501d", "90", "9 0d", "2027-02-30", "2027-01-31T12:00:00", "soon"] {
            #expect(KeyExpiry.moment(text, from: now) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("soon", "--until must be a number of days from 1d to 36500d"), ("soon", "it is \"soon\"."),
        ("2020-01-31", "--until must be in the future; it is \"2020-01-31\"."),
    ])
    func `an expiry that cannot be is refused before a key is made`(text: String, message: String) async throws {
        let refused = try await till.run("keys", "make", "shop", "--until", text)
        #expect(refused.status == 64)
        #expect(refused.error.contains(message))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test func `the audit log and the story name the key`() async throws {
        let made = try await till.run(
            "keys", "make", "support desk", "--scope", "grant", "--scope", "support", "--json"
        ).decoded(MadeKey.self)
        let service = try await ServeProcess(till)
        let grant = #"{"item":{"collection":"sprout","number":3},"reason":"Sorry"}"#
        #expect(try await service.curl("/v1/users/alice/grants", key: made.key, body: grant).status == 201)
        #expect(await service.end(SIGTERM) == 0)
        #expect(try await till.run("keys", "revoke", made.id).status == 0)
        for command in ["audit", "story"] {
            let text = try await till.run(command, "alice").output
            #expect(text.contains("key \"support desk\""), "\(text)")
            #expect(!text.contains("key \(made.id)"))
            let json = try await till.run(command, "alice", "--json").output
            #expect(json.contains("\"actor\" : \"key \(made.id)\""), "\(json)")
            #expect(json.contains("\"actorName\" : \"support desk\""))
        }
    }

    @Test func `the list has the expiry and the last use, once the service has stopped`() async throws {
        let made = try await till.run("keys", "make", "shop", "--until", "2999-01-31", "--json").decoded(MadeKey.self)
        let unused = try await till.run("keys", "make", "unused", "--json").decoded(MadeKey.self)
        let service = try await ServeProcess(till)
        #expect(try await service.curl("/v1/products", key: made.key).status == 200)
        #expect(await service.end(SIGTERM) == 0)
        let keys = try await till.run("keys", "list", "--json").decoded(Listed.self).keys
        let used = try #require(keys.first { $0.keyId == made.id })
        #expect(used.expiresAt == "2999-01-31T00:00:00Z")
        let lastUse = try #require(used.lastUsedAt)
        #expect(keys.first { $0.keyId == unused.id }?.lastUsedAt == nil)
        let text = try await till.run("keys", "list").output
        #expect(text.contains("EXPIRES") && text.contains("LAST USED") && text.contains(lastUse))
    }
}
