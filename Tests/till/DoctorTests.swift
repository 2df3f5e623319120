import Foundation
import GRDB
import Proofs
import TestSupport
import Testing

@Suite struct DoctorTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            let check: String
            let status: String
            let detail: String
            let remedy: String?
        }

        let findings: [Finding]

        /// The names of the checks that found a problem.
        var problems: [String] { findings.filter { $0.status == "problem" }.map(\.check) }
    }

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func report(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> (Report, TillProcess.Result) {
        let result = try await till.run(
            arguments: ["doctor", "--port", "0", "--json"] + arguments, environment: environment)
        return (try result.decoded(Report.self), result)
    }

    /// Makes an installation without problems.
    private func install() async throws {
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        #expect(try await till.run("keys", "make", "tests").status == 0)
    }

    @Test func `a sound installation passes, and nothing is written`() async throws {
        try await install()
        let (report, result) = try await report()
        #expect(report.problems == [], "\(result.output)")
        #expect(result.status == 0)
        let checks = Set(report.findings.map(\.check))
        let expected = [
            "settings", "data directory", "permissions", "trusted roots", "catalog", "ledger", "API keys", "clock",
            "port",
            "notifications",
        ]
        #expect(checks.isSuperset(of: expected), "\(checks)")
        let text = try await till.run("doctor", "--port", "0")
        #expect(text.status == 0)
        #expect(text.output.contains("ok       catalog: com.memolease.sesac1 sells 11 products\n"))
        #expect(text.output.hasSuffix("No problems.\n"))
    }

    @Test func `a remedy names the data directory of the configuration file`() async throws {
        let data = till.folder.folder("elsewhere").path
        let file = till.folder.file("till.json")
        try Data(#"{"data": "\#(data)"}"#.utf8).write(to: file)
        let (report, result) = try await report("--config", file.path, environment: ["TILL_DATA": ""])
        let finding = try #require(report.findings.first { $0.check == "API keys" }, "\(result.output)")
        #expect(finding.remedy == "Make one: till keys make NAME --data \(data)")
        let (named, _) = try await self.report("--config", file.path)
        #expect(named.findings.first { $0.check == "API keys" }?.remedy == "Make one: till keys make NAME")
    }

    @Test func `an empty machine gets a remedy for each problem, and no files`() async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run("doctor", "--port", "0", "--json")
        #expect(result.status == 1)
        let report = try result.decoded(Report.self)
        #expect(
            report.problems == ["trusted roots", "API keys"] || report.problems == ["API keys"], "\(result.output)")
        #expect(report.findings.filter { $0.status == "problem" }.allSatisfy { $0.remedy != nil })
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test func `wrong settings are the only finding`() async throws {
        let (report, result) = try await report(environment: ["TILL_PROXIES": "many"])
        #expect(result.status == 1)
        #expect(report.findings.map(\.detail) == ["`proxies` must be a number from 0 to 16; TILL_PROXIES is \"many\"."])
    }

    @Test func `a port in use names its process`() async throws {
        try await install()
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        let running = try await till.run("doctor", "--port", "\(port)")
        // While other tests open thousands of connections, the kernel's table may lack the entry; then the doctor knows no name.
        let named = running.output.contains(
            "127.0.0.1:\(port) is in use by till, process \(server.processIdentifier)")
        #expect(named || running.output.contains("127.0.0.1:\(port) is in use by another program"))
        #expect(running.status == (named ? 0 : 1))
    }

    @Test func `a ledger that others may read, and a clock that went back, are problems`() async throws {
        try await install()
        let ledger = till.folder.file("data/service/ledger.sqlite").path
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644, .modificationDate: Date.now.addingTimeInterval(86_400)], ofItemAtPath: ledger)
        let (report, result) = try await report()
        #expect(result.status == 1)
        #expect(report.problems == ["permissions", "clock"], "\(result.output)")
        let remedy = report.findings.first { $0.check == "permissions" }?.remedy
        #expect(remedy?.hasPrefix("Run: chmod 600 ") == true)
    }

    @Test(arguments: [
        ("data", 0o777), ("data/service", 0o707), ("data/service/trust", 0o1777), ("data/service/ledger.sqlite", 0o602),
        ("", 0o777), ("till.json", 0o646),
    ])
    func `what everybody may write is a problem, and the service does not start`(name: String, mode: Int) async throws {
        try await install()
        try Data("{}".utf8).write(to: till.folder.file("till.json"))
        let place = name.isEmpty ? till.folder.url : till.folder.file(name)
        let former = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] ?? 0o700
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place.path)
        let (report, result) = try await report("--config", "till.json")
        let findings = report.findings.filter { $0.check == "permissions" && $0.status == "problem" }
        #expect(
            findings.contains { $0.remedy == "Run: chmod o-w \(place.path)" && $0.detail.contains("every user") },
            "\(result.output)")
        let served = try await till.run("serve", "--config", "till.json", "--port", "0")
        #expect(served.status == 1)
        #expect(
            served.error.contains(
                "\"\(place.path)\" may be written by every user of this machine, who could replace the ledger or add a "
                    + "trusted root. Run: chmod o-w"), "\(served.error)")
        try FileManager.default.setAttributes([.posixPermissions: former], ofItemAtPath: place.path)
    }

    @Test func `a file of the catalog that everybody may write is a problem`() async throws {
        let folder = till.folder.folder("garden")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let items = till.folder.file("garden/Items.json")
        try Data("{}".utf8).write(to: items)
        try FileManager.default.setAttributes([.posixPermissions: 0o646], ofItemAtPath: items.path)
        let (report, result) = try await report("--catalog", folder.path)
        #expect(
            report.findings.contains { $0.check == "permissions" && $0.remedy == "Run: chmod o-w \(items.path)" },
            "\(result.output)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files to other users and groups"))
    func `a folder of another user or of a group is told`() async throws {
        try await install()
        let data = till.folder.folder("data").path
        // The group of the user `nobody`.
        try FileManager.default.setAttributes(
            [.groupOwnerAccountID: 65_534, .posixPermissions: 0o770], ofItemAtPath: data)
        let (shared, output) = try await report()
        let note = try #require(shared.findings.first { $0.check == "permissions" }, "\(output.output)")
        #expect(note.status == "note" && note.detail.contains("each member of the group"), "\(note)")
        #expect(note.remedy?.hasSuffix("chmod g-w \(data)") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: data)
        // The folder above, whose owner may put another data directory in its place.
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: till.folder.url.path)
        let (foreign, _) = try await report()
        #expect(foreign.problems == ["permissions"])
        #expect(foreign.findings.contains { $0.detail.contains("belongs to nobody, who may replace it") })
        let server = try await ServeProcess(till)
        #expect(try server.log.contains("belongs to nobody"))
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files to other users and groups"))
    func `a secret that root has copied there is given to the group of the service`() async throws {
        try await install()
        let secret = till.folder.file("password").path
        try Data("file secret\n".utf8).write(to: till.folder.file("password"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret)
        let mail = [
            "--accounts", "--mail-from", "Garden <no-reply@garden.example>", "--mail-links",
            "https://garden.example/account", "--mail-server", "smtp://mail.example:25", "--mail-username", "garden",
            "--mail-password-file", secret,
        ]
        func remedy() async throws -> String? {
            let result = try await till.run(arguments: ["doctor", "--port", "0", "--json"] + mail)
            return try result.decoded(Report.self).findings.first { $0.detail.contains("has the mode 644") }?.remedy
        }
        #expect(try await remedy() == "Run: chmod 640 \(secret)")
        // The group of the user `nobody`: without it, the service could not read its secret any more.
        try FileManager.default.setAttributes(
            [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534], ofItemAtPath: till.folder.folder("data").path)
        #expect(try await remedy() == "Run: chgrp nogroup \(secret) && chmod 640 \(secret)")
    }

    @Test func `an expired API key is not valid`() async throws {
        try await install()
        #expect(try await till.run("keys", "make", "later", "--expires", "1d").status == 0)
        let before = try await report().0.findings.first { $0.check == "API keys" }
        #expect(before?.detail == "2 valid, 0 revoked, 0 expired")
        let ledger = try DatabaseQueue(path: till.folder.file("data/service/ledger.sqlite").path)
        try await ledger.write {
            try $0.execute(sql: "UPDATE api_key SET expires_at = created_at + 1 WHERE name = 'later'")
        }
        let one = try await report().0.findings.first { $0.check == "API keys" }
        #expect(one?.detail == "1 valid, 0 revoked, 1 expired")
        try await ledger.write { try $0.execute(sql: "UPDATE api_key SET expires_at = created_at + 1") }
        #expect(try await report().0.problems == ["API keys"])
    }

    @Test func `a damaged ledger and a damaged catalog are problems`() async throws {
        try await install()
        try Data("no database at all, of any kind".utf8).write(to: till.folder.file("data/service/ledger.sqlite"))
        let catalog = till.folder.folder("catalog")
        try FileManager.default.createDirectory(at: catalog, withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: catalog.appending(path: "Till.storekit"))
        let (report, _) = try await report("--catalog", catalog.path)
        #expect(Set(report.problems).isSuperset(of: ["catalog", "ledger", "API keys"]))
    }

    @Test(arguments: [(2, "expires on", false), (-2, "expired on", false), (300, "is valid until", true)])
    func `the end of the TLS certificate is reported`(days: Int, part: String, passes: Bool) async throws {
        try await install()
        let now = Int64(Date.now.timeIntervalSince1970)
        let template = CertificateTemplate(
            role: .leaf, commonName: "127.0.0.1", organization: "Test", serialNumber: [1], notBefore: now - 10 * 86_400,
            notAfter: now + Int64(days) * 86_400, serverNames: ["127.0.0.1"])
        let key = try PrivateKey.generate(.p256)
        let certificate = try template.issue(for: key.publicKey, issuer: nil, signer: key, digest: .sha256)
        try Data(certificate.pem.utf8).write(to: till.folder.file("tls.crt"))
        try Data(try key.pem().utf8).write(to: till.folder.file("tls.key"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: till.folder.file("tls.key").path)
        let (report, result) = try await report("--tls-certificate", "tls.crt", "--tls-key", "tls.key")
        let finding = try #require(report.findings.first { $0.check == "TLS certificate" })
        #expect(finding.detail.contains(part), "\(finding.detail)")
        #expect((result.status == 0) == passes, "\(result.output)")
    }

    @Test func `what Apple's origins need is said`() async throws {
        try await install()
        let root = Project.root.appending(path: "Keys/AppleRootCA-G3.cer").path
        if FileManager.default.fileExists(atPath: root) {
            #expect(try await till.run("trust", "add", root).status == 0)
        }
        let (report, _) = try await report("--accept", "apple/Production")
        let notifications = try #require(report.findings.first { $0.check == "notifications" })
        #expect(notifications.remedy?.contains("https://HOST/v1/notifications/apple") == true)
        #expect(notifications.remedy?.contains("app-store-key") == true)
    }

    /// The hours since a question of the App Store, which waits for twelve, and the finding about it.
    @Test(
        arguments: [
            (1, "ok", "due: 1, the first one by "), (7, "note", "due: 1, the first one by "),
            (13, "problem", "missed in 7 days: 1, the last one at "), (13 + 7 * 24, "ok", "nothing is due"),
        ] as [(Int64, String, String)])
    func `what a store awaits is told, and what was missed`(
        _ hours: Int64, _ status: String, _ detail: String
    ) async throws {
        try await install()
        let key = till.folder.file("key.p8")
        try Data(try PrivateKey.generate(.p256).pem().utf8).write(to: key)
        let asked = SystemClock().now().adding(seconds: -hours * 3600).millisecondsSince1970
        try await DatabaseQueue(path: till.folder.file("data/service/ledger.sqlite").path).write {
            try $0.execute(
                sql: """
                    INSERT INTO notification (notification_uuid, origin, app, type, transaction_id, signed_at,
                        received_at, proof_digest, outcome)
                    SELECT 'q', origin, app, 'CONSUMPTION_REQUEST', transaction_id, \(asked), \(asked), zeroblob(32),
                        'recorded' FROM claim LIMIT 1
                    """)
        }
        let settings = [
            "--app-store-key", key.path, "--app-store-key-id", "k", "--app-store-issuer-id", "i",
            "--app-store-url", "http://127.0.0.1:9",
        ]
        let silent = try await till.run(arguments: ["doctor", "--port", "0", "--json"] + settings)
        #expect(try silent.decoded(Report.self).findings.allSatisfy { $0.check != "deadlines" })
        let result = try await till.run(
            arguments: ["doctor", "--port", "0", "--json", "--refund-preference", "DECLINE"] + settings)
        let finding = try #require(
            try result.decoded(Report.self).findings.first { $0.check == "deadlines" }, "\(result.output)")
        #expect(finding.status == status && finding.detail.hasPrefix(detail), "\(finding.detail)")
        #expect(finding.detail.contains("`consumptionAnswer` of ") == (detail != "nothing is due"))
    }

    @Test func `a refused report about an external purchase is told, also without a key`() async throws {
        try await install()
        let due = SystemClock().now().adding(seconds: 3600).millisecondsSince1970
        try await DatabaseQueue(path: till.folder.file("data/service/ledger.sqlite").path).write {
            try $0.execute(
                sql: """
                    INSERT INTO store_duty (subject, kind, origin, app, due_at, is_refused)
                    SELECT 'SANDBOX_1', 'externalPurchase', origin, app, \(due), 1 FROM claim LIMIT 1
                    """)
        }
        let (report, result) = try await report()
        let finding = try #require(report.findings.first { $0.check == "deadlines" }, "\(result.output)")
        #expect(finding.status == "note" && finding.detail.contains("`externalPurchase` of SANDBOX_1"))
    }

    @Test func `what Google Play needs is said`() async throws {
        try await install()
        let file = till.folder.file("play-key.txt")
        try Data(try PrivateKey.generateRSA().publicKey.informationText().utf8).write(to: file)
        #expect(try await till.run("trust", "add", file.path, "--package", "com.example.garden").status == 0)
        let (report, _) = try await report("--accept", "google/Production")
        let finding = try #require(report.findings.first { $0.check == "Google Play" })
        #expect(finding.remedy == "Set google-service-account.")
        #expect(finding.detail.contains("rentals without a `rentalPeriod`"))
    }
}
