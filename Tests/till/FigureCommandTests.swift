import Foundation
import GRDB
import Service
import TestSupport
import Testing

/// `till figures`, and the report of `till ledger check` about the sums.
@Suite struct FigureCommandTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func units(_ arguments: String..., environment: [String: String] = [:]) async throws -> [Int64] {
        let result = try await till.run(
            arguments: ["figures", "units", "--environment", "sandbox", "--json"] + arguments,
            environment: environment)
        #expect(result.status == 0, "\(result.error)")
        return try result.decoded(FigureAnswerResource.self).series.flatMap(\.values)
    }

    private func change(_ sql: String) async throws {
        try await DatabaseQueue(path: till.folder.file("data/service/ledger.sqlite").path).write {
            try $0.execute(sql: sql)
        }
    }

    @Test func `figures tell what was bought since the last call, too`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        #expect(try await units().last == 1)
        try await till.run("buy", "com.memolease.sesac1.sprout2", "--user", "bob")
        #expect(try await units().reduce(0, +) == 2)
        #expect(try await till.run("ledger", "check").status == 0)
        let table = try await till.run(
            "figures", "units", "--environment", "sandbox", "--by", "month", "--group", "product")
        #expect(table.output.contains("com.memolease.sesac1.sprout2"))
        #expect(table.output.hasPrefix("FROM"))
        #expect(try await units("--store", "app_store", "--group", "store").reduce(0, +) == 2)
        #expect(try await units("--store", "play_store").reduce(0, +) == 0)
        let list = try await till.run("figures")
        #expect(list.output.contains("trial-conversion"))
    }

    @Test func `an environment without sales names the other one, if it has some`() async throws {
        let nothing = try await till.run(
            "buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--outcome", "cancelled")
        #expect(nothing.status == 1)
        #expect(try await till.run("figures", "units").error == "")
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        let one = try await till.run("figures", "revenue", "--group", "product")
        #expect(one.status == 0)
        #expect(one.error.contains("1 sale in sandbox; add --environment sandbox"), "\(one.error)")
        try await till.run("buy", "com.memolease.sesac1.sprout2", "--user", "alice")
        let two = try await till.run("figures", "churn", "--by", "month", "--json")
        #expect(two.error.contains("2 sales in sandbox; add --environment sandbox"), "\(two.error)")
        #expect(try two.decoded(FigureAnswerResource.self).environment == "production")
        #expect(try await !till.run("figures", "units", "--environment", "sandbox").error.contains("sale"))
    }

    @Test func `money is in the digits of its currency, and sales without a price are named`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--proof", "transaction")
        let query = ["figures", "revenue", "--by", "month", "--environment", "sandbox"]
        let priced = try await till.run(arguments: query)
        let row = try #require(priced.output.split(separator: "\n").last)
        #expect(row.contains("  KRW 1,200") && !priced.output.contains("CURRENCY"), "\(priced.output)")
        #expect(!priced.error.contains("price"), "\(priced.error)")
        let raw = try await till.run(arguments: query + ["--raw"])
        #expect(raw.output.contains("CURRENCY") && raw.output.contains("1200000"), "\(raw.output)")
        // An app receipt states no price.
        try await till.run("buy", "com.memolease.sesac1.sprout2", "--user", "bob")
        let unpriced = try await till.run(arguments: query)
        #expect(unpriced.output == priced.output)
        #expect(unpriced.error.contains("1 sale without a stated price"), "\(unpriced.error)")
        let count = try await till.run("figures", "without-price", "--environment", "sandbox", "--json")
        #expect(try count.decoded(FigureAnswerResource.self).series.flatMap(\.values).reduce(0, +) == 1)
    }

    @Test func `a check finds a wrong sum`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        #expect(try await units().last == 1)
        try await change("UPDATE figure SET amount = 7 WHERE metric = 'units'")
        let checked = try await till.run("ledger", "check", "--json")
        #expect(checked.status == 1)
        #expect(try checked.decoded(CheckedLedger.self).problems.contains { $0.hasPrefix("The figures of") })
    }

    @Test func `a service keeps the sums, and tells them to a command`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        let key = try await till.run("keys", "make", "figures", "--scope", "figures").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let service = try await ServeProcess(till, ["--figures"])
        let address = service.url.absoluteString
        try await expectEventually {
            try await units("--server", address, environment: ["TILL_API_KEY": key]).reduce(0, +) == 1
        }
        #expect(await service.end(SIGTERM) == 0)
        let closed = try await ServeProcess(till)
        #expect(try await closed.curl("/v1/figures", key: key).code == "featureOff")
    }

    @Test func `an export is a file of one moment`() async throws {
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        let exported = try await till.run("export", "transactions", "sales.csv")
        #expect(exported.status == 0, "\(exported.error)")
        let lines = try String(contentsOf: till.folder.file("sales.csv"), encoding: .utf8).split(
            whereSeparator: \.isNewline)
        #expect(lines.count == 2)
        #expect(lines.last?.hasPrefix("alice,") == true)
        #expect(try await till.run("export", "transactions", "sales.csv", "--json").code == "backupExists")
        let printed = try await till.run("export", "transactions")
        #expect(printed.output.split(whereSeparator: \.isNewline) == lines)
        #expect(lines.last?.contains(",com.memolease.sesac1.sprout1,Sturdy Sprout,") == true)
    }

    @Test func `an export of a running service goes on from a cursor`() async throws {
        // The number of users exceeds one part.
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        try await change(
            """
            WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1200)
            INSERT INTO user (
                user_id, issuer, name, app_account_token, is_app_account_token_settled, first_seen_at,
                version, last_transaction, last_grant, audit_number, audit_digest)
            SELECT user_id + number, '', 'user' || number, printf('00000000-0000-4000-8000-%012d', number), 0,
                first_seen_at, version, 0, 0, 0, zeroblob(32)
            FROM user, numbers
            """)
        let key = try await till.run("keys", "make", "exports", "--scope", "export").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let service = try await ServeProcess(till)
        let arguments = ["export", "customers", "--server", service.url.absoluteString]
        let whole = try await till.run(arguments: arguments, environment: ["TILL_API_KEY": key])
        #expect(whole.status == 0, "\(whole.error)")
        let lines = whole.output.split(whereSeparator: \.isNewline)
        #expect(lines.count == 1202)
        #expect(Set(lines).count == lines.count)
        let part = try await service.curl("/v1/exports/customers?pageSize=1000", key: key)
        let cursor = try #require(part.field("Link")?.firstMatch(of: /cursor=([^&>]+)/)).1
        let rest = try await till.run(
            arguments: arguments + ["--cursor", String(cursor)], environment: ["TILL_API_KEY": key])
        #expect(String(decoding: part.body, as: UTF8.self) + rest.output == whole.output)
        #expect(await service.end(SIGTERM) == 0)
        let gone = try await till.run(
            arguments: arguments + ["--cursor", String(cursor)], environment: ["TILL_API_KEY": key])
        #expect(gone.status == 1)
        #expect(gone.error.contains("--cursor \(cursor)"))
    }

    @Test(arguments: [
        ["figures", "profit"], ["figures", "units", "--by", "year"], ["figures", "units", "--from", "yesterday"],
        ["figures", "units", "--group", "user"], ["export", "sales", "sales.csv"],
        ["export", "events", "--json"], ["export", "events", "--cursor", "x"],
        ["export", "events", "events.csv", "--server", "http://127.0.0.1:1"],
    ])
    func `wrong usage ends with 64`(arguments: [String]) async throws {
        #expect(try await till.run(arguments: arguments).status == 64)
    }
}
