import Catalog
import Entitlements
import Features
import Foundation
import GRDB
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The export and import of all rows of a ledger, or of none.
@Suite struct LedgerExportTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// Adds rows to the tables.
    func fill() async throws {
        _ = try await ledger.write { try $0.reset(at: Self.now) }
        try await fillForBackEnds()
        try await fillCatalog()
        let coins = Credit(balance: "coins", amount: 10)
        _ = try await redeem(claim("1"), claim("2", original: "1"), claim("3", item: nil, credit: coins), for: alice)
        _ = try await redeem(claim("1"), for: bob, under: .transfer(pauseSeconds: 9))
        _ = try await redeem(claim("1"), for: alice)
        let token = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        _ = try await redeem(claim("8", appAccountToken: token), for: alice)
        _ = try await notify("1", claim("9", item: nil))
        _ = try await notify("2", claim("1", revoked: Self.now, signedAt: Self.later(1)))
        let grant = Grant(
            identifier: "g", item: Self.sprout1, reason: "an \u{1F331} and a \"quote\"\n", grantedBy: "K",
            grantedAt: Self.now, endsAt: Self.later(9))
        let answer = IdempotencyKey(caller: "c", key: "k").answer([0, 255, 10], to: [UInt8](repeating: 1, count: 32))
        _ = try await ledger.write {
            try $0.add(grant, for: bob, keeping: answer)
        }
        _ = try await ledger.write {
            try $0.change(.revoke(reason: "a fraud"), ofTransaction: "3", origin: nil, of: alice, by: "K", at: Self.now)
        }
        _ = try await ledger.write {
            try $0.change(.reinstate(), ofTransaction: "3", origin: nil, of: alice, by: "K", at: Self.now)
        }
        let spending = Spending(
            identifier: "s", balance: "coins", amount: 4, reason: "a hat", spentBy: "K", spentAt: Self.now,
            request: .init(idempotencyKey: "k", digest: [UInt8](repeating: 2, count: 32)))
        _ = try await ledger.write { try $0.spend(spending, for: alice, accepting: Set(Origin.allCases)) }
        try await ledger.write {
            try $0.add(
                APIKeyRecord(
                    identifier: "a", name: "back end", scopes: ["read"], app: "app", person: "ada", key: "k",
                    createdAt: Self.now, expiresAt: Self.later(9)))
            try $0.recordUse(ofAPIKey: "a", at: Self.now)
            #expect(try $0.revokeAPIKey("a", at: Self.later(5)))
        }
        try await ledger.write { try $0.setReconciled("s", until: Self.now, findings: [:]) }
        try await fillForAppUsers()
    }

    /// Adds webhook endpoints and deliveries. The endpoints must precede the events of the deliveries.
    private func fillForBackEnds() async throws {
        let bytes = [UInt8](repeating: 1, count: 32)
        let endpoint = WebhookEndpoint(
            identifier: "e", url: "https://example.com", format: .revenueCat, createdAt: Self.now, createdBy: "K",
            secret: bytes, authorization: WebhookAuthorization("Bearer hooks"))
        #expect(try await ledger.write { try $0.add(endpoint, upTo: 1) })
        #expect(
            try await ledger.write { try $0.replace(bytes, with: bytes, ending: Self.later(1), ofWebhookEndpoint: "e") }
        )
        _ = try await redeem(claim("5"), claim("6"), for: alice)
        let service = try ledger.webhooks(
            of: Apps(App(try Catalog(folder: Project.products))), clock: ManualClock(Self.now))
        let taken = try await service.lease(
            try await service.due(for: try await service.endpoint("e"), limit: 2) ?? [])
        try await service.remove("e", by: "K")
        try await service.record([
            service.result(of: taken[0], .answered(status: 204)),
            service.result(of: taken[1], .unanswered(code: "c")),
        ])
    }

    private func fillCatalog() async throws {
        let contents: [CatalogChange.Content] = [
            .definition("{}"), .withdrawal, .picture(of: Self.sprout1, digest: [UInt8](repeating: 1, count: 32)),
        ]
        for (revision, content) in zip(Int64(0)..., contents) {
            let change = CatalogChange(
                of: revision == 0 ? .right("r") : .product("p"), content, after: revision, in: "app", by: "K",
                at: Self.now)
            #expect(try await ledger.write { try $0.add(change, picture: [1, 2], maximumPictures: 2) })
        }
    }

    private func fillForAppUsers() async throws {
        let accounts = AccountService(
            ledger: ledger, clock: ManualClock(Self.now), cost: .minimal)
        let entrance = try await accounts.open(try EmailAddress("A@b.co"), passwordHash: "h")
        let account = entrance.account
        _ = try await accounts.renew(entrance.tokens.refresh.text)
        let origins = Set(Origin.allCases)
        let answer = try await ledger.write {
            try $0.changeProfile(
                of: account.user, .set("Mint"), chosen: [Self.sprout1], owning: [Self.sprout1], accepting: origins,
                at: Self.now)
        }
        #expect(
            answer
                == .success(
                    try await ledger.read { try $0.profile(of: account.user, accepting: origins, at: Self.now) })
        )
        try await ledger.write { try $0.addWish(for: "p", of: account.user, at: Self.now) }
        let isNew = try await ledger.write {
            try $0.join(
                alice, phoneNumber: "+821012345678", email: "a@b.co", fcmToken: "f", birth: "2000-01-01", gender: -1,
                at: Self.now)
        }
        #expect(isNew)
        let attribute = try Attribute(name: "level", value: "7", statedAt: Self.now)
        try await ledger.write { try $0.state([attribute], of: alice, at: Self.now) }
        let claimed = try Attribute(name: "level", value: "8", statedAt: Self.now, isPublic: true)
        try await ledger.write { try $0.state([claimed], of: alice, from: "com.example.app", at: Self.now) }
        let anonymous = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "0", count: 32))).user
        _ = try await redeem(claim("71"), for: anonymous)
        _ = try await ledger.write { try $0.logIn(anonymous, as: alice, by: .user, at: Self.now) }
    }

    private func export(_ ledger: Ledger) throws -> Data {
        var text = Data()
        _ = try ledger.export { text.append($0) }
        return text
    }

    /// - Parameter size: The number of bytes read at once.
    private func take(_ text: Data, into ledger: Ledger, size: Int = 100) throws -> Int {
        var rest = text[...]
        return try ledger.importLines { () throws(ImportError) -> Data? in
            defer { rest = rest.dropFirst(size) }
            return rest.isEmpty ? nil : Data(rest.prefix(size))
        }
    }

    @Test func `an import has the same rows as its export`() async throws {
        try await fill()
        let text = try export(ledger)
        let copy = try fixture.another()
        let rows = try take(text, into: copy)
        #expect(rows == text.count { $0 == UInt8(ascii: "\n") } - 2)
        #expect(try export(copy) == text)
        #expect(try await copy.read { try $0.audit(of: bob) } == ledger.read { try $0.audit(of: bob) })
        #expect(
            try await copy.read { try $0.transactions(of: bob, before: nil, limit: 9) }
                == ledger.read { try $0.transactions(of: bob, before: nil, limit: 9) }
        )
        // The copy works as the original does.
        #expect(
            try await copy.write { try $0.redeem([claim("1"), claim("7")], for: bob, at: Self.now) }.results == [
                .revoked, .granted,
            ])
    }

    /// Adds rows to the tables that the use cases of `fill` do not fill, in a file.
    func fillOtherTables() async throws {
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path)
        try await database.write {
            try $0.execute(
                sql: """
                    INSERT INTO subscription (user_id, original_transaction_id, origin, app, stated_at, proof_digest)
                        SELECT user_id, '1', 4, 1, 0, zeroblob(32) FROM user LIMIT 1;
                    INSERT INTO purchase_state SELECT user_id, '1', 4, 1, 'active', 1, 2, 3 FROM user LIMIT 1;
                    INSERT INTO expected_transaction SELECT '90', 4, 1, user_id FROM user LIMIT 1;
                    INSERT INTO expected_purchase SELECT user_id, '90', 4, 1, 1, 'p', 1, 2 FROM user
                        LIMIT 1;
                    INSERT INTO google_purchase VALUES
                        ('t', 7, 1, 't', 'u', 1, 'active', 'p', 'GPA.1', 1, 2, 3, 4, 5, 6, 'q',
                        1, 7, 8, 9, 1);
                    INSERT INTO google_chain VALUES ('t', 1, 'q', 7);
                    INSERT INTO google_line VALUES
                        ('t', 1, 'q', 'p', 'token-1', '', 't', 'GPA.1', 'GPA.1', 1, 2, 3, 1, 7);
                    INSERT INTO google_voided_purchase VALUES ('t', 'GPA.1', 1, 'q', 1, 0, NULL);
                    INSERT INTO google_voided_units VALUES ('t', 'GPA.1', 1, 'q', 1, 2);
                    INSERT INTO google_bought_units VALUES ('t', 1, 'q', 3, 2);
                    INSERT INTO external_transaction VALUES
                        ('s', 'r', 'q', 'localPlay', 1, '{}', 'i', 1, 2, 'K', 2, 3, NULL, 'e'),
                        ('s', '', 'q', 'localPlay', 1, '{}', NULL, 1, 2, 'K', 2, NULL, 3, NULL);
                    INSERT INTO external_purchase VALUES ('p', 1, 4, 'SERVICES', 1, 2, 3, 1, 'waiting', 4);
                    INSERT INTO external_purchase_report VALUES
                        ('p', 'r', 1, 'NO_LINE_ITEM', '[]', 1, 'K', 2, 3, 4, NULL, '{"message":"e"}', 4),
                        ('p', 's', 1, 'NO_LINE_ITEM', '[]', 1, NULL, 2, 3, NULL, 5, NULL, 4);
                    INSERT INTO google_refund_review VALUES
                        ('m', 7, 1, 'q', 'GPA.1', 's', 1, 2, 3, NULL, NULL),
                        ('n', 7, 1, 'q', 'GPA.2', NULL, 1, 2, NULL, 3, 'DECLINE');
                    INSERT INTO store_duty VALUES ('t', 'acknowledgement', 7, 1, 3, 0);
                    INSERT INTO store_action SELECT '1', 4, 1, 'a', 'refund', user_id, 'p', '{}', 'sorry', 'K', 1,
                        'accepted', 'L', 2, 3, 4, '{}', '{}', 5, 6, 'e' FROM user LIMIT 1;
                    INSERT INTO ledger_secret VALUES ('purchaseTokens', zeroblob(32));
                    INSERT INTO parked_original VALUES ('9', 4, 1, '91');
                    INSERT INTO kept_proof SELECT user_id, zeroblob(32), x'01', x'' FROM user LIMIT 1;
                    INSERT INTO chain VALUES (1, zeroblob(32), zeroblob(32));
                    INSERT INTO kept_certificate VALUES (zeroblob(32), x'02');
                    INSERT INTO account_link SELECT user_id, zeroblob(32), 'reset', 'a@b.example', 1, 2 FROM account
                        LIMIT 1;
                    INSERT INTO address_change SELECT user_id, 'A@b.example', 'a@b.example', 1, 0, 0 FROM account
                        LIMIT 1;
                    INSERT INTO mail SELECT user_id, 'm', 'reset', 'a@b.example', 'en', 1, 0, 2, NULL, 'refused'
                        FROM account LIMIT 1;
                    INSERT INTO balance_addition SELECT user_id, 'a', 'coins', 1, 'sorry', 'K', 1, NULL FROM user LIMIT 1;
                    INSERT INTO webhook_change VALUES ('e', 1, zeroblob(16), 'urlChanged', 'K', 'https://example.com');
                    INSERT INTO notification_forward VALUES ('n', 4, 't', 1, 0, 0, 'timedOut', x'01');
                    INSERT INTO figure_cohort VALUES (0, 0, 1, 4, 1);
                    INSERT INTO customer_spending SELECT user_id, 1, 'XTS', 1 FROM user LIMIT 1;
                    INSERT INTO mail_count VALUES (zeroblob(32), 1, 1);
                    INSERT INTO kept_configuration VALUES ('service', '{}');
                    INSERT INTO team_member VALUES ('ada', 'admin', 'h', zeroblob(20), 1, 1, NULL);
                    INSERT INTO team_session VALUES (zeroblob(32), 'ada', 1, 2);
                    INSERT INTO team_invitation VALUES (zeroblob(32), 'ada', 1, 2);
                    INSERT INTO team_change VALUES (1, 1, 'added', 'command line', 'ada', 'admin');
                    """)
            try self.fillOwnTimes(in: $0)
        }
    }

    /// Sets the times of the service's own clock that no row has, in the rows that may have them.
    private func fillOwnTimes(in database: Database) throws {
        for table in [LedgerFeature].all.tables {
            for own in table.ownTimes {
                let filled = try Int.fetchOne(database, sql: "SELECT count(\(own.column)) FROM \"\(table.name)\"")
                guard filled == 0 else { continue }
                // SQLite ignores each row whose conditions refuse the time (sqlite.org/lang_conflict.html).
                try database.execute(
                    sql: "UPDATE OR IGNORE \"\(table.name)\" SET \(own.column) = ?",
                    arguments: [own.units(of: Self.now.millisecondsSince1970)])
            }
        }
    }

    /// An export without a column would lose its values.
    @Test(.enabled(if: LedgerFixture.isFile)) func `an export has every column of every table`() async throws {
        try await fill()
        let figures = ledger.figures(clock: SystemClock())
        try await figures.sweep()
        try await figures.rollUp()
        // This write leaves a user with pending sums.
        _ = try await redeem(claim("70"), for: alice)
        try await fillOtherTables()
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path)
        let text = try #require(String(bytes: try export(ledger), encoding: .utf8))
        try await database.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
            #expect(tables.count == [LedgerFeature].all.tables.count)
            for table in tables {
                let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \"\(table)\"") ?? 0
                #expect(count > 0, "\(table) is empty")
                let lines = text.split(separator: "\n").filter { $0.contains("\"table\":\"\(table)\"") }
                #expect(lines.count == count)
                for column in try database.columns(in: table) {
                    let filled = try Int.fetchOne(database, sql: "SELECT count(\(column.name)) FROM \"\(table)\"")
                    #expect(lines.count { $0.contains("\"\(column.name)\":") } == filled, "\(table).\(column.name)")
                }
            }
        }
    }

    @Test func `a damaged export is not imported`() async throws {
        try await fill()
        let text = try export(ledger)
        let lines = text.split(separator: UInt8(ascii: "\n")).map { Data($0) }
        func joined(_ lines: [Data]) -> Data { Data(lines.flatMap { $0 + [UInt8(ascii: "\n")] }) }
        func changed(_ old: String, _ new: String) -> Data {
            Data(String(decoding: text, as: UTF8.self).replacing(old, with: new, maxReplacements: 1).utf8)
        }
        let copy = try fixture.another()
        for (damaged, error) in [
            (Data(), ImportError.incomplete), (text.dropLast(1), .incomplete), (joined(lines.dropLast()), .incomplete),
            (joined(lines.dropLast(2) + lines.suffix(1)), .incomplete), (joined(Array(lines[1...])), .lineInvalid(1)),
            (text + text, .lineInvalid(lines.count + 1)), (Data("hello\n".utf8), .lineInvalid(1)),
            (joined([Data(#"{"version":6}"#.utf8)] + lines.dropFirst()), .versionOther(6)),
            (changed("\"alice\"", "\"mallory\""), .incomplete), (changed("\"issuer\"", "\"issue\""), .lineInvalid(2)),
            (changed("\"table\":\"user\"", "\"table\":\"sqlite_master\""), .lineInvalid(2)),
            (joined([lines[0], lines[1], lines[1]]), .lineInvalid(3)),
        ] as [(Data, ImportError)] {
            #expect(throws: error) { try take(damaged, into: copy) }
            #expect(try await copy.read { try $0.audit(of: alice) }.isEmpty)
        }
        #expect(try take(text, into: copy, size: 1 << 20) > 0)
        #expect(throws: ImportError.notEmpty) { try take(text, into: copy) }
    }

    @Test func `an existing file is not overwritten`() throws {
        let file = folder.file("export.jsonl")
        #expect(try NewFile.write(to: file) { try ledger.export(to: $0) } == 0)
        #expect(throws: BackupError.exists(path: file.path)) {
            try NewFile.write(to: file) { try ledger.export(to: $0) }
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
