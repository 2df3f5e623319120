import CPostgreSQL
import Proofs

/// The address of a ledger in a PostgreSQL database: a URL as libpq reads it (PostgreSQL, 34.1.1.2), with several hosts if
/// there is a standby. It may lead to a pooler that gives each transaction another session.
package struct PostgreSQLAddress: Sendable, CustomStringConvertible {
    /// The URL, which may contain a password.
    let url: String
    /// The URL of the server behind a pooler; nil if `url` leads to the server itself.
    private let directURL: String?
    /// The standbys that may answer reads; nil for none.
    private let replicasURL: String?
    /// The address without the password, for errors and logs.
    package let description: String
    /// The hosts with their ports, for errors.
    let places: String
    /// True if a failover leads to another host.
    let hasSeveralHosts: Bool
    /// The limit for a connection that the URL states; nil if it states none.
    let connectTimeout: Duration?
    private let password: String?

    /// True if each transaction gets another session.
    package var isPooled: Bool { directURL != nil }

    /// The address of the server itself.
    package var direct: PostgreSQLAddress { directURL.flatMap { try? PostgreSQLAddress($0) } ?? self }

    /// The address of the standbys that may answer reads; nil for none. The initializer has read it once, so it is one.
    var replicas: PostgreSQLAddress? { replicasURL.flatMap { try? PostgreSQLAddress($0) } }

    /// Returns true if a text begins as a PostgreSQL URL does.
    package static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// - Parameters:
    ///   - direct: The URL of the server itself, if `url` leads to a pooler that gives each transaction another session.
    ///   - replicas: The URL of standbys that may answer reads; nil for none.
    package init(_ url: String, direct: String? = nil, replicas: String? = nil) throws(PostgreSQLAddressError) {
        guard Self.isAddress(url), let options = PQconninfoParse(url, nil) else { throw PostgreSQLAddressError() }
        defer { PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            settings[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
            option += 1
        }
        let hosts = settings["host", default: ""].split(separator: ",", omittingEmptySubsequences: false)
        let ports = settings["port", default: ""].split(separator: ",", omittingEmptySubsequences: false)
        // An unencoded slash or at sign moves a part of the password into the host or the database, which errors show.
        let database = settings["dbname", default: ""]
        guard !(hosts + [database[...]]).contains(where: { $0.contains("@") }),
            ports.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } })
        else { throw PostgreSQLAddressError() }
        let places = hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
            return port.isEmpty ? String(host) : "\(host):\(port)"
        }
        for other in [direct, replicas].compactMap(\.self) { _ = try PostgreSQLAddress(other) }
        self.url = url
        (directURL, replicasURL) = (direct, replicas)
        self.places = places.joined(separator: ",")
        hasSeveralHosts = hosts.count > 1
        connectTimeout = settings["connect_timeout"].flatMap { Int($0) }.map { .seconds($0) }
        password = settings["password"]
        let user = settings["user"].map { "\($0)@" } ?? ""
        description = "postgres://\(user)\(self.places)/\(database)"
    }

    /// The text, in which the password is left out.
    func withoutPassword(_ text: String) -> String {
        password.map { $0.isEmpty ? text : text.replacing($0, with: "…") } ?? text
    }
}

/// The error of an invalid PostgreSQL URL. The message does not repeat the URL, which may contain a password.
package struct PostgreSQLAddressError: CodedError, Equatable {
    package init() {}

    package var code: String { "ledgerAddressInvalid" }

    package var message: String {
        "The ledger's address is not a PostgreSQL URL. Use the form postgres://user@host:5432/database, and percent-encode "
            + "special characters."
    }
}
