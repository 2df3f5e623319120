import ArgumentParser
import Foundation
import Proofs
import Vocabulary

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Add, list and remove the root certificates and the keys of apps whose proofs are trusted.",
        subcommands: [TrustAdd.self, TrustList.self, TrustRemove.self])
}

struct TrustAdd: Command {
    static let configuration = CommandConfiguration(
        "add", "Trust the root certificates of a file, or the key of an app on Google Play.",
        """
        Apple publishes its roots at https://www.apple.com/certificateauthority/. The command refuses a certificate with \
        Apple's name and another SHA-256 than the published one. The Play Console shows the key of an app under \
        Monetization setup, Licensing: save it in a file, and name the app with --package.
        """,
        examples: """
            till trust add AppleRootCA-G3.cer
            till trust add play-key.txt --package com.example.garden
            """)

    @Argument(help: "A certificate in DER or PEM; with --package, a public key in base64.")
    var file: String

    @Option(help: .package("whose key the file has"))
    var package: String?

    @Option(help: .bundleIdentifier("with --package, if it is another name"))
    var bundleId: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.prepare()
        if let package { return try add(keyOf: package, to: TrustFolder(data.trustFolder)) }
        let anchors = try TrustFolder(data.trustFolder).add(file: URL(filePath: file))
        for anchor in anchors { terminal.line("Trusted as \(anchor.realm.rawValue): \(anchor.name)") }
        terminal.note("A running service applies this when you reload it: `systemctl reload till`, or SIGHUP.")
        try terminal.json(["added": anchors.map { $0.report() }])
    }

    func validate() throws {
        try require(bundleId == nil || package != nil, "--bundle-id is for the key of an app. Add --package.")
        try require(
            package.map { AppKey.isPackageName($0) } ?? true,
            "--package must be the name of an Android app, such as com.example.garden.")
    }

    private func add(keyOf package: String, to folder: TrustFolder) throws {
        let bytes = NamedFile.bytes(of: URL(filePath: file))
        guard let text = bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else {
            throw CommandError("fileUnreadable", NamedFile.fault(of: file))
        }
        let key: AppKey
        do {
            key = try AppKey(
                packageName: package, base64: String(text.filter { !$0.isWhitespace }), bundleIdentifier: bundleId)
        } catch {
            throw CommandError("appKeyInvalid", "\"\(file)\" is unusable. \(error)")
        }
        try folder.add(key)
        try terminal.result("Trusted as \(key.realm.rawValue): \(key.packageName)", ["added": [key.report()]])
    }
}

struct TrustList: Command {
    static let configuration = CommandConfiguration(
        "list", "List the root certificates and the keys of apps whose proofs are trusted.",
        """
        The files are in the data directory, and in the folder Keys/ of the project or installation (share/till/Keys).
        """,
        examples: "till trust list")

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let folders = try common.dataDirectory.trustedFolders.map { TrustFolder($0) }
        let entries = try folders.flatMap { try $0.entries() }
        let keys = try folders.flatMap { try $0.appKeys() }
        terminal.table(
            ["REALM", "NAME", "UNTIL", "SHA-256"],
            entries.map(\.anchor).map {
                [
                    $0.realm.rawValue, $0.name, String($0.notAfter.rfc3339.prefix(10)),
                    $0.certificate.fingerprint.hexadecimal,
                ]
            } + keys.map(\.key).map { [$0.realm.rawValue, $0.packageName, nil, $0.fingerprint.hexadecimal] })
        try terminal.json([
            "trusted": entries.map { $0.anchor.report(in: $0.file) } + keys.map { $0.key.report(in: $0.file) }
        ])
    }
}

extension AppKey {
    fileprivate func report(in file: URL? = nil) -> Report {
        [
            "realm": realm.rawValue, "name": packageName, "bundleId": bundleIdentifier,
            "sha256": fingerprint.hexadecimal, "file": file?.path,
        ]
    }
}

extension TrustAnchor {
    fileprivate var name: String { certificate.commonName ?? "(no name)" }

    fileprivate var notAfter: Timestamp { Timestamp(secondsSince1970: certificate.notAfter) }

    fileprivate func report(in file: URL? = nil) -> Report {
        [
            "realm": realm.rawValue, "name": name, "until": notAfter.rfc3339,
            "sha256": certificate.fingerprint.hexadecimal, "file": file?.path,
        ]
    }
}

struct TrustRemove: Command {
    static let configuration = CommandConfiguration(
        "remove", "Remove a trusted root certificate, or the key of an app.",
        "The command removes files from the data directory. Remove files in Keys/ by hand.",
        examples: "till trust remove 63343abf")

    @Argument(help: "The SHA-256 in hexadecimal, or at least its first 8 digits, from `till trust list`.")
    var sha256: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.requireTrustFolder()
        let folder = TrustFolder(data.trustFolder)
        let removed: (name: String, report: Report)
        if let key = try folder.removeAppKey(fingerprint: sha256) {
            removed = (key.packageName, key.report())
        } else {
            let anchor = try folder.remove(fingerprint: sha256)
            removed = (anchor.name, anchor.report())
        }
        terminal.line("Removed: \(removed.name)")
        terminal.note("A running service applies this when you reload it: `systemctl reload till`, or SIGHUP.")
        try terminal.json(["removed": removed.report])
    }
}
