import Foundation

/// The process that listens on a TCP port of this machine, from Linux's `/proc`.
struct ListeningProcess {
    let identifier: Int
    /// The name of the program, of up to 15 bytes.
    let name: String

    /// The number of attempts: the kernel's tables may change while they are read, so that an entry is missed.
    private static let attempts = 5

    /// - Returns: Nil if no process listens, if it belongs to another user, or without `/proc`.
    static func find(port: Int) -> ListeningProcess? {
        for _ in 0..<attempts {
            if let found = search(port: port) { return found }
        }
        return nil
    }

    private static func search(port: Int) -> ListeningProcess? {
        let inodes = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { Self.inodes(listeningOn: port, in: $0) }
        let links = Set(inodes.map { "socket:[\($0)]" })
        let files = FileManager.default
        guard !links.isEmpty, let processes = try? files.contentsOfDirectory(atPath: "/proc") else { return nil }
        for identifier in processes.compactMap(Int.init) {
            let folder = "/proc/\(identifier)/fd"
            let descriptors = (try? files.contentsOfDirectory(atPath: folder)) ?? []
            guard
                descriptors.contains(where: { name in
                    (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map(links.contains) ?? false
                }), let name = try? String(contentsOfFile: "/proc/\(identifier)/comm", encoding: .utf8)
            else { continue }
            return ListeningProcess(identifier: identifier, name: name.trimmingCharacters(in: .newlines))
        }
        return nil
    }

    /// The inodes of the sockets in the state LISTEN (0A).
    private static func inodes(listeningOn port: Int, in file: String) -> [Substring] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let hexadecimal = fields[1].split(separator: ":").last,
                Int(hexadecimal, radix: 16) == port
            else { return nil }
            return fields[9]
        }
    }
}
