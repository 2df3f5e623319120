import AppStore
import Foundation
import Proofs

/// A network of a store's own, in which Apple's host names lead to the store. It is for clients whose address cannot be changed.
///
/// The network has this machine's loopback alone, and the host names and the authority are known in it alone. Both end with the
/// process, so nothing outside changes.
struct AppleNamespace {
    private static let hostsFile = "/etc/hosts"
    /// The certificates that OpenSSL, curl and swift-nio-ssl trust on Debian and Ubuntu.
    private static let trustFile = "/etc/ssl/certs/ca-certificates.crt"
    /// Runs in the new namespaces: the files replace those of the system, and the command replaces the shell.
    private static let script = """
        set -e
        "$1" link set lo up
        mount --bind "$2" \(hostsFile)
        mount --bind "$3" \(trustFile)
        shift 3
        exec "$@"
        """

    private let hosts: URL
    private let trust: URL

    /// Writes the files of the namespace beside the store's certificate.
    init(_ identity: ServerIdentity) throws {
        let folder = identity.authority.deletingLastPathComponent()
        hosts = folder.appending(path: "hosts", directoryHint: .notDirectory)
        trust = folder.appending(path: "trust.pem", directoryHint: .notDirectory)
        let names = ServerIdentity.hostNames.filter { $0 != "127.0.0.1" }
        try Data("127.0.0.1 \(names.joined(separator: " "))\n::1 localhost\n".utf8).write(to: hosts, options: .atomic)
        // In the namespace, the file is the one that was written before.
        guard !isEntered else { return }
        guard let known = try? Data(contentsOf: URL(filePath: Self.trustFile)) else {
            throw Self.failure("\(Self.trustFile) is missing. Install the package ca-certificates.")
        }
        try (known + Data(contentsOf: identity.authority)).write(to: trust, options: .atomic)
    }

    /// True in the namespace, and on a machine whose own host names lead to the store.
    var isEntered: Bool {
        FileManager.default.contentsEqual(atPath: hosts.path, andPath: Self.hostsFile)
    }

    /// Starts this command again, in the namespace.
    func enter() throws -> Never {
        let command = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let own = geteuid() == 0 ? [] : ["--user", "--map-root-user"]
        let unshare = try Self.tool("unshare", package: "util-linux")
        let arguments =
            [unshare] + own + ["--net", "--mount", "--", "/bin/sh", "-c", Self.script, "till"]
            + [try Self.tool("ip", package: "iproute2"), hosts.path, trust.path, command]
            + CommandLine.arguments.dropFirst()
        var pointers = arguments.map { strdup($0) } + [nil]
        execv(unshare, &pointers)
        throw Self.failure("\(unshare) could not be started: \(String(cString: strerror(errno))).")
    }

    /// The command that runs another one in the namespace of this process.
    static var nsenter: String {
        // The identities of the first user namespace are mapped to themselves.
        let identities = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        let user = identities.contains("4294967295") ? "" : " --user --preserve-credentials"
        return "nsenter --target \(ProcessInfo.processInfo.processIdentifier)\(user) --net --mount --"
    }

    private static func tool(_ name: String, package: String) throws -> String {
        let paths = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map { "\($0)/\(name)" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
            throw failure("The command \(name) is missing. Install the package \(package).")
        }
        return path
    }

    private static func failure(_ sentence: String) -> CommandError {
        CommandError("namespaceFailed", "A network of the store's own cannot be made. \(sentence)")
    }
}
