import ArgumentParser
import Foundation
import HTTPSupport
import Ledger
import Proofs

struct PlayKeysCommand: Command {
    static let configuration = CommandConfiguration(
        "keys", "Make a service account for the Play Developer API, as Google Cloud does.",
        """
        Writes its key file, in Google's form and with the token address of this Play, to play-service-account.json in the working \
        directory, or to the file of --out. The Play does not keep the private key.
        """,
        examples: """
            till play keys
            till play keys --out account.json
            """)

    @Option(help: .out("it must not exist; default: \(PlayKeysCommand.standardFile)"))
    var out: String?

    @Option(help: .value("url", "The address (of the Play; default: that on which it listens or has listened)."))
    var url: URL?

    @Option(name: .customLong("package"), help: .package("which the account may use; may be repeated; default: all"))
    var packageName: [String] = []

    @OptionGroup var common: CommonOptions

    private static let standardFile = "play-service-account.json"

    func perform() async throws {
        let play = try common.dataDirectory.play()
        let file = URL(filePath: out ?? Self.standardFile).absoluteURL
        let key = try play.perform { books in
            guard
                let url = try url ?? books.address() ?? URL(string: "http://127.0.0.1:\(PlayServe.standardPort)")
            else { throw BrokenInvariant("the standard address of a Play is an address", "till play keys") }
            let key = try books.makeServiceAccount(at: url, for: packageName.isEmpty ? nil : packageName)
            try Self.write(try key.json(), to: file, called: "The key")
            return key
        }
        terminal.line("Service account \(key.clientEmail)")
        terminal.line("Token address   \(key.tokenUri)")
        terminal.line("Key file        \(file.path)")
        try terminal.json(["clientEmail": key.clientEmail, "tokenUri": key.tokenUri, "keyFile": file.path])
    }
}

struct PlayLicense: Command {
    static let configuration = CommandConfiguration(
        "license", "Print an app's licensing key, with which a server verifies signed purchases.",
        "The key is in the form of the Play Console: base64 of the public key, on one line.",
        examples: "till play license --package com.memolease.sesac1")

    @OptionGroup var app: PlayAppOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let (packageName, key) = try common.dataDirectory.play().perform { books in
            let packageName = try app.packageName(in: books)
            return (packageName, try books.licensingKey(of: packageName))
        }
        try terminal.result(key, ["packageName": packageName, "licensingKey": key])
    }
}

struct PlayProducts: Command {
    static let configuration = CommandConfiguration(
        "products", "List the one-time products of an app; with --json in the form of a catalog file.",
        examples: "till play products --json")

    @OptionGroup var app: PlayAppOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let products = try common.existingPlay.perform { try $0.products(of: app.packageName(in: $0)) }
        terminal.table(
            ["PRODUCT", "OPTION", "RENTED FOR", "STATE", "REGION", "PRICE"],
            products.flatMap { product in
                (product.purchaseOptions ?? []).map { option in
                    let config = option.regionalPricingAndAvailabilityConfigs?.first
                    return [
                        product.productId, option.purchaseOptionId, option.rentOption?.rentalPeriod,
                        option.state?.rawValue, config?.regionCode,
                        config?.price?.price.formatted,
                    ]
                }
            }, orElse: "No products.")
        try terminal.json(["oneTimeProducts": products])
    }
}

struct PlayTime: Command {
    static let configuration = CommandConfiguration(
        "time", "Print the Play's time, or advance it and perform all due events in order.",
        """
        With --account, the time is that of one account, and no other account's moves. From its first step on, the account
        has its own clock, which the Play's no longer moves, until `till play reset`.
        """,
        examples: """
            till play time
            till play time --advance 3d       # or 90s, 5min, 2h, 1w, 1mo, 1y
            till play time --account alice --advance 1mo
            """)

    @Option(help: .account("whose time it is, instead of the Play's"))
    var account: String?

    @Option(help: .value("time", "The time to advance: \(TimeStep.form)."))
    var advance: TimeStep?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let play = try common.existingPlay
        var (accounts, events): ([AccountTime]?, [DueEvent]?)
        // Due events happen before the time is read.
        let now = try play.perform { books in
            guard let advance else {
                if account == nil { accounts = try books.accountTimes() }
                return try books.time(of: account)
            }
            let advanced = try books.advance(advance, of: account)
            events = advanced.events
            return advanced.now
        }
        terminal.line(now.rfc3339)
        terminal.list(accounts)
        terminal.list(events)
        try terminal.json(JSONContent(answer: ClockAnswer(now: now, accounts: accounts, events: events).json()))
    }
}

struct PlayReset: Command {
    static let configuration = CommandConfiguration(
        "reset", "Clear the purchases, the faults and the clocks.",
        "The Play keeps its apps, products, keys and service accounts.",
        examples: "till play reset")

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let count = try common.existingPlay.perform { try $0.reset() }
        terminal.line(
            "Cleared \(counted(count, "purchase")) and the clocks. The keys and the products stay.")
        try terminal.json(["purchases": count])
    }
}
