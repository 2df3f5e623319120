import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Proofs
import Synchronization

/// The option of the commands that play a store.
struct NamedStoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The named store of the running `till store` to play (default: the store without a name).",
            valueName: "name"))
    var storeName: String?
}

/// A command that plays a store, of which the option chooses one.
protocol StorePlayer: Command {
    var storeOption: NamedStoreOption { get }
}

/// A named store that a command plays: a copy from the running `till store`, which replaces the store after the command.
final class NamedStoreCopy: Sendable {
    private static let current = Mutex<NamedStoreCopy?>(nil)
    /// The store that the command of this process plays; nil for the one without a name.
    static var played: NamedStoreCopy? { current.withLock(\.self) }

    let name: String
    let store: Store
    private let client: ServiceClient
    /// The path of the copy at the running store.
    private let path: String
    /// The revisions of the running store and of the copy, before the command.
    private let revisions: (running: String, copy: String)

    /// Lets the command play a named store.
    ///
    /// - Parameter name: Nil for the store without a name.
    static func take(_ name: String?, beside common: CommonOptions) async throws -> NamedStoreCopy? {
        guard let name else { return nil }
        let named = try await NamedStoreCopy(name, of: try common.directoryOfStore)
        current.withLock { $0 = named }
        return named
    }

    private init(_ name: String, of data: DataDirectory) async throws {
        guard let running = RunningStore(of: data) else { throw RunningStore.missing(in: data) }
        self.name = name
        client = ServiceClient(url: running.url, credential: running.sandboxKey)
        let folder = "stores/\(HTTPServiceConnection.segment(name))"
        path = "/\(folder)/sandbox/v1/store"
        let copy: StoreCopy
        do { copy = try await client.get(path, upTo: Self.maximumAnswer) } catch is ServiceUnreachable {
            throw RunningStore.missing(in: data)
        }
        store = try Store.playing(copy, besides: try data.store(), at: folder)
        revisions = (copy.revision, try store.revision)
    }

    /// The largest copy in base64, in bytes.
    private static let maximumAnswer = 17 << 20

    /// Gives back the copy, also an unchanged one: the deliveries of the store wait for it.
    func giveBack() async throws {
        do {
            let _: [String: String] = try await client.put(path, try store.copy(stating: revisions.running))
        } catch is ServiceRefusal {
            guard try store.revision != revisions.copy else { return }
            throw CommandError(
                "storeChanged",
                "Another process has changed the store \"\(name)\" meanwhile, so this command has changed nothing. Run it again."
            )
        }
    }
}

/// The `till store` that serves a data directory. A file of the directory tells it to commands of the same user.
struct RunningStore: Codable {
    let url: URL
    let sandboxKey: String

    init(url: URL, _ key: SandboxKey) {
        (self.url, sandboxKey) = (url, key.text)
    }

    /// Nil if no process serves the store of the directory.
    init?(of data: DataDirectory) {
        guard let bytes = try? Data(contentsOf: Self.file(in: data)),
            let running = try? JSONDecoder().decode(RunningStore.self, from: bytes)
        else { return nil }
        self = running
    }

    func keep(in data: DataDirectory) throws {
        try PrivateFile.replace(Self.file(in: data), with: Array(try JSONEncoder().encode(self)))
    }

    /// Removes the file, unless another process has written its own since.
    static func forget(_ key: SandboxKey, in data: DataDirectory) {
        guard RunningStore(of: data)?.sandboxKey == key.text else { return }
        try? FileManager.default.removeItem(at: file(in: data))
    }

    static func missing(in data: DataDirectory) -> CommandError {
        CommandError(
            "storeNotRunning",
            "No `till store` serves the named stores of \"\(data.folder.path)\". Start it, without --tls and --as-apple, or leave out "
                + "--store-name.")
    }

    private static func file(in data: DataDirectory) -> URL {
        data.storeFolder.appending(path: "serving.json", directoryHint: .notDirectory)
    }
}
