import ArgumentParser
import PlayStore
import Proofs

extension BillingProgram: ExpressibleByArgument {}

extension ExternalApp.Category: ExpressibleByArgument {}

struct PlayExternalToken: Command {
    static let configuration = CommandConfiguration(
        "external-token", "Make the token that an app gets before its customer buys outside Google's billing.",
        """
        The app's server reports the customer's transactions with it (externaltransactions). The Play refuses a report whose details, \
        country or category are not those of the program.
        """,
        examples: """
            till play external-token EXTERNAL_CONTENT_LINK
            till play external-token EXTERNAL_OFFER --package com.example.garden
            """)

    @Argument(help: "The program: \(BillingProgram.allCases.map(\.rawValue).joined(separator: ", ")).")
    var program: BillingProgram

    @OptionGroup var app: PlayAppOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let token = try common.existingPlay.perform { books in
            try books.makeExternalTransactionToken(of: app.packageName(in: books), in: program)
        }
        try terminal.result(token.externalTransactionToken, PlayExternalTokenResource(token))
    }
}

struct PlayExternalApps: Command {
    static let configuration = CommandConfiguration(
        "external-apps", "Register an app outside Google Play, to whose download links lead, or list such apps.",
        "The Play accepts reports of downloads of registered apps alone, with the category of the registration.",
        examples: """
            till play external-apps
            till play external-apps com.example.game --category GAME
            """)

    @Argument(help: .value("package", "The package name of the downloaded app. Without one, the apps are listed."))
    var installedPackage: String?

    @Option(help: "The category of the downloaded app: APP or GAME.")
    var category = ExternalApp.Category.app

    @OptionGroup var app: PlayAppOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let installedPackage { try requirePackageName(installedPackage) }
    }

    func perform() async throws {
        let apps = try common.existingPlay.perform { books in
            guard let installedPackage else { return try books.externalApps() }
            let registered = ExternalApp(
                packageName: try app.packageName(in: books), installedAppPackage: installedPackage, category: category)
            try books.register(registered)
            return [registered]
        }.map { PlayExternalAppResource($0) }
        try terminal.list(["APP", "CATEGORY", "LINKED FROM"], apps, orElse: "No apps.") {
            [$0.installedAppPackage, $0.category, $0.packageName]
        }
    }
}
