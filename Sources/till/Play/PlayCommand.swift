import ArgumentParser
import Catalog
import Foundation
import HTTPSupport
import Logging
import PlayStore
import Proofs
import Vocabulary

struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Run a local Google Play to test a server against, and play its customers.",
        discussion: """
            Examples:
              till play                    # the shipped catalog, on port 8082
              till play --products Garden.play.json
              till play keys               # a service account for the Play Developer API
              till play license            # the licensing key that verifies purchases
              till play buy com.memolease.sesac1.sprout1 --account alice
              till play time --advance 3d
            """,
        subcommands: [
            PlayServe.self, PlayKeysCommand.self, PlayLicense.self, PlayProducts.self, PlayBuy.self, PlayPurchases.self,
            PlayComplete.self, PlayCancel.self, PlayRefund.self, PlayDispute.self, PlayExternalToken.self,
            PlayExternalApps.self, PlaySubscribe.self, PlaySubscriptions.self,
            PlaySubscriptionCommand.self, PlayNotifications.self, PlayFail.self, PlayTime.self, PlayReset.self,
        ],
        defaultSubcommand: PlayServe.self)
}

/// `till play serve`, also run by `till play`.
struct PlayServe: Command {
    static let configuration = CommandConfiguration(
        "serve", "Run the local Play: the Play Developer API, its tokens, and the sandbox.",
        """
        Google's own client calls it with the key file of `till play keys` and the option api_endpoint. A Play without products \
        of its own sells those of the catalog.
        """,
        examples: """
            till play serve
            till play serve --products Garden.play.json
            till play serve --package com.example.garden
            till play serve --notifications-url http://127.0.0.1:3000/google
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any free one.")
    var port = PlayServe.standardPort

    @Option(help: .value("file", "A file with products (with the names of Google's JSON, sold from now on)."))
    var products: String?

    @Option(
        name: .customLong("package"),
        help: .package("which the Play has from now on, without products, too; may be repeated")
    )
    var packageName: [String] = []

    @Option(help: .value("url", "The address that receives notifications."))
    var notificationsURL: URL?

    @OptionGroup var options: LocalStoreOptions

    var common: CommonOptions { options.common }

    static let standardPort = 8082

    func validate() throws {
        try requirePort(port)
        for name in packageName { try requirePackageName(name) }
    }

    func perform() async throws {
        let key = try options.sandbox.key()
        try OpenFiles.allow(connections: ServerConfiguration().maximumConnections)
        let catalog = try products.map { try PlayCatalog(file: URL(filePath: $0)) }
        let data = common.dataDirectory
        let play = try data.play(adding: catalog, apps: packageName)
        let logger = options.logger("till.play")
        var configuration = ServerConfiguration()
        (configuration.host, configuration.port) = (host, port)
        let terminal = terminal
        let apps = try play.perform { books in
            if let notificationsURL { try books.set(PushSettings(endpoint: notificationsURL)) }
            return try books.apps()
        }
        defer { RunningServer.withdraw(from: data) }
        try await ServiceServer.run(
            play.routes(sandboxKey: key.apiKey).router(logger: logger),
            backgroundServices: [play.pushing(logger: logger)],
            configuration: configuration, logger: logger
        ) { url in
            RunningServer(googlePlay: url).announce(in: data, logger: logger)
            do { try play.perform { try $0.setAddress(LocalPlay.reachable(url)) } } catch {
                logger.error(
                    "`till play keys` cannot know the address", metadata: ["code": "\(Problem.code(of: error))"])
            }
            terminal.line("Listening on \(url.absoluteString)")
            terminal.line(key.line)
            terminal.line("Apps: \(apps.joined(separator: ", "))")
            try? terminal.report(["url": url.absoluteString, "sandboxKey": key.printed, "packageNames": apps])
        }
    }
}

/// Ends the command with its usage unless a text can be an Android package name.
func requirePackageName(_ text: String) throws(ValidationError) {
    try require(
        PackageName.isValid(text),
        "\"\(text.prefix(155))\" is not a package name. Use letters, digits and underscores, and dots between the parts, as in "
            + "com.example.app.")
}

extension DataDirectory {
    /// The local Google Play of this directory, made if there is none. A Play without an app gets that of the catalog. The catalog that
    /// the command names is kept.
    ///
    /// - Parameters:
    ///   - catalog: The products that it sells from now on, besides those that it has.
    ///   - apps: The package names of further apps.
    ///   - places: The catalogs of a service. The Play sells each whose app it does not have.
    func play(
        adding catalog: PlayCatalog? = nil, apps: [String] = [], sellingFrom places: [CatalogSource] = []
    ) throws -> GooglePlay {
        try preparePlay()
        let all = places.isEmpty ? [catalogPlace] : places
        let play = try openPlay { try trustPlay($0, key: $1, sellingFrom: all) }
        try play.perform { books in
            if let catalog { try books.add(catalog) }
            // A service whose folder is newer than the Play trusts the known apps, too.
            for app in try books.apps() + apps { try books.addApp(app) }
            let known = try books.apps()
            for place in known.isEmpty ? all : places {
                let shipped = try place.catalog()
                guard !known.contains(PackageName.name(ofApp: shipped.bundleIdentifier)) else { continue }
                try books.add(PlayCatalog(shipped.configuration, bundleIdentifier: shipped.bundleIdentifier))
            }
        }
        try keepCatalog()
        return play
    }

    func openPlay(trust: @escaping GooglePlay.Trust = { _, _ in }) throws -> GooglePlay {
        try GooglePlay(folder: playFolder, clock: SystemClock(), randomness: .system, trust: trust)
    }

    /// Adds the licensing key of an app of the local Play to the keys that the service trusts, unless it is among them.
    private func trustPlay(_ packageName: String, key: PublicKey, sellingFrom places: [CatalogSource]) throws {
        // The catalog's name of the app may have hyphens.
        let sold = places.lazy.compactMap { (try? $0.catalog())?.bundleIdentifier }
            .first { PackageName.name(ofApp: $0) == packageName }
        let appKey = AppKey(
            packageName: packageName, publicKey: key,
            bundleIdentifier: sold, realm: .localPlay)
        let folder = TrustFolder(trustFolder)
        // A later command may name another catalog, or none.
        let isKnown = try folder.appKeys().contains {
            $0.key.realm == .localPlay && $0.key.fingerprint == appKey.fingerprint
        }
        if !isKnown { try folder.add(appKey) }
    }
}

extension CommonOptions {
    /// The local Google Play, which has to exist.
    ///
    /// - Throws: `CommandError` if there is none; `PermissionDenied`.
    var existingPlay: GooglePlay {
        get throws {
            try dataDirectory.requirePlay()
            return try dataDirectory.play()
        }
    }
}

/// The app of a command. A Play with one app needs no name.
struct PlayAppOptions: ParsableArguments {
    @Option(name: .customLong("package"), help: .package("default: the only one of the Play"))
    var packageName: String?

    /// - Throws: `CommandError` if the Play has several apps, and none is named.
    func packageName(in books: PlayBooks) throws -> String {
        if let packageName { return packageName }
        let apps = try books.apps()
        guard apps.count == 1 else {
            throw CommandError(
                "appUnknown",
                "The local Play has the apps \(apps.joined(separator: ", ")): name one with --package.")
        }
        return apps[0]
    }
}
