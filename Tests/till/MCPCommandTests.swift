import Foundation
import HTTPSupport
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// `till mcp` between a client, whose lines the tests write, and a running service.
@Suite struct MCPCommandTests {
    private static let initialize =
        #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tests","version":"1"}}}"#
    private static let initialized = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    private static let sprout = "com.memolease.sesac1.sprout1"

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    /// An answer of the session.
    private struct Answer {
        let json: JSONContent

        var code: Int? {
            guard case .integer(let code)? = json["error"]?["code"] else { return nil }
            return Int(code)
        }
        var result: JSONContent? { json["result"] }
        var structured: JSONContent? { result?["structuredContent"] }
        var isError: Bool { result?["isError"] == .bool(true) }
        /// The text for the agent.
        var text: String {
            guard case .array(let content)? = result?["content"] else { return "" }
            return content.first?["text"]?.text ?? ""
        }
        /// The names of the listed tools.
        var tools: [String] { described.map { $0["name"]?.text ?? "" } }
        var described: [JSONContent] {
            if case .array(let tools)? = result?["tools"] { tools } else { [] }
        }
    }

    /// Sends lines after the handshake, and returns the answers to them.
    private func talk(_ lines: [String], with key: String, to server: ServeProcess) async throws -> [Answer] {
        let input = ([Self.initialize, Self.initialized] + lines).map { $0 + "\n" }.joined()
        let result = try await till.run(
            arguments: ["mcp", "--server", server.url.absoluteString], input: input,
            environment: ["TILL_API_KEY": key])
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(!result.output.contains(key))
        return try result.output.split(separator: "\n").dropFirst().map {
            Answer(json: try JSONContent(answer: Array($0.utf8)))
        }
    }

    private static func call(_ tool: String, _ arguments: String) -> String {
        #"{"jsonrpc":"2.0","id":"\#(tool)","method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    }

    /// A request that spaces make so many bytes long.
    private static func ping(length: Int) -> String {
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        return ping + String(repeating: " ", count: length - ping.utf8.count)
    }

    @Test func `each line gets the answer of JSON-RPC, and a wrong one ends nothing`() async throws {
        let server = try await ServeProcess(till)
        let key = try await till.makeKey("read")
        let rows: [(line: String, code: Int?)] = [
            ("x", -32700), ("", -32700), (#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, -32700),
            (String(repeating: "[", count: 40), -32700), (String(repeating: " ", count: (1 << 20) + 1), -32700),
            (Self.ping(length: 1 << 20), nil), (Self.ping(length: (1 << 20) + 1), -32700),
            ("[]", -32600), (#"{"id":1,"method":"ping"}"#, -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32601),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}"#, nil),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"owned","arguments":[]}}"#, -32602),
            (Self.call("nothing", "{}"), -32602), (#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, nil),
        ]
        let answers = try await talk(rows.map(\.line), with: key, to: server)
        #expect(answers.count == rows.count)
        for (row, answer) in zip(rows, answers) {
            #expect(answer.code == row.code, "\(row.line.prefix(80)): \(answer.json)")
            #expect(answer.json["jsonrpc"]?.text == "2.0")
            let hasNone =
                row.code == -32700 || row.line == "[]" || row.line.contains("\"id\":null") || row.line.contains("1.5")
            #expect((answer.json["id"] == .null) == hasNone, "\(row.line.prefix(80))")
        }
        // Notifications and answers have none.
        let silent = [
            Self.initialized, #"{"jsonrpc":"2.0","id":9,"result":{}}"#, #"{"jsonrpc":"2.0","method":"x"}"#,
            #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        ]
        #expect(try await talk(silent, with: key, to: server).isEmpty)
    }

    @Test(arguments: [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25")])
    func `the session has the revision that the client asks for, or else the newest`(
        asked: String, answered: String
    ) async throws {
        let lines = [
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, Self.initialize.replacing("2025-06-18", with: asked),
        ]
        // No service is needed before a tool is.
        let ran = try await till.run(
            arguments: ["mcp", "--server", "http://127.0.0.1:9"], input: lines.joined(separator: "\n"),
            environment: ["TILL_API_KEY": "till_x_y"])
        #expect(ran.status == 0)
        let answers = try ran.output.split(separator: "\n").map {
            Answer(json: try JSONContent(answer: Array($0.utf8)))
        }
        #expect(answers.map(\.code) == [-32600, nil])
        let result = try #require(answers.last?.result)
        #expect(result["protocolVersion"]?.text == answered && result["capabilities"]?["tools"] != nil)
        #expect(result["serverInfo"]?["name"]?.text == "till")
    }

    @Test func `the tools are those of the key's scopes, and each action needs a reason and a confirmation`()
        async throws
    {
        let server = try await ServeProcess(till)
        let list = #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
        func tools(_ key: String) async throws -> [JSONContent] {
            try #require(try await talk([list], with: key, to: server).first).described
        }
        func names(_ tools: [JSONContent]) -> [String] { tools.compactMap { $0["name"]?.text } }
        #expect(
            names(try await tools(try await till.makeKey("read")))
                == ["doctor", "owned", "subscriptions", "purchases", "balances", "gifts"])
        // It may not read its own scopes.
        let blind = names(try await tools(try await till.makeKey("support", "grant", "stores")))
        #expect(blind.contains("why") && !blind.contains("give") && !blind.contains("refund"))
        let all = try await tools(try await till.makeKey("all"))
        #expect(all.count == 24 && Set(names(all)).count == all.count)
        for tool in all {
            let (name, schema) = (tool["name"]?.text ?? "", try #require(tool["inputSchema"]))
            #expect(schema["type"]?.text == "object" && tool["description"]?.text?.hasSuffix(".") == true, "\(name)")
            guard case .object(let properties)? = schema["properties"], case .array(let required)? = schema["required"],
                case .bool(let isReading)? = tool["annotations"]?["readOnlyHint"]
            else {
                Issue.record("\(name): \(tool)")
                continue
            }
            #expect(tool["annotations"]?["destructiveHint"] == .bool(!isReading), "\(name)")
            for argument in ["reason", "confirm"] {
                #expect((properties[argument] != nil) == !isReading, "\(name) \(argument)")
                #expect(required.contains(.string(argument)) == !isReading, "\(name) \(argument)")
            }
            for (argument, property) in properties {
                #expect(
                    property["description"]?.text?.isEmpty == false || property["properties"] != nil,
                    "\(name) \(argument)")
                #expect(property["$ref"] == nil, "\(name) \(argument)")
            }
        }
    }

    @Test func `questions are answered as the service answers, and actions are those of the key`() async throws {
        #expect(try await till.run("buy", Self.sprout, "--user", "alice").status == 0)
        let server = try await ServeProcess(till)
        let key = try await till.makeKey("read", "support", "grant")
        let gift = #""user":"alice","item":{"collection":"background","number":3}"#
        let answers = try await talk(
            [
                Self.call("search", #"{"search":"ALI"}"#), Self.call("owned", #"{"user":"alice"}"#),
                Self.call("why", #"{"user":"alice","collection":"sprout","number":1}"#),
                Self.call("story", #"{"user":"alice","pageSize":1}"#), Self.call("refusals", #"{"user":"alice"}"#),
                Self.call("doctor", "{}"), Self.call("owned", #"{"name":"alice"}"#), Self.call("owned", "{}"),
                Self.call("owned", #"{"user":".."}"#), Self.call("find_purchase", #"{"transaction":"1"}"#),
                Self.call("give", "{\(gift),\"reason\":\"Sorry\"}"),
                Self.call("give", "{\(gift),\"reason\":\"Sorry\",\"confirm\":\"background 3 to alicia\"}"),
                Self.call("revoke", #"{"user":"alice","transaction":7,"reason":"Sorry","confirm":"7"}"#),
                Self.call("give", "{\(gift),\"reason\":\"Sorry\",\"confirm\":\"background 3 to alice\"}"),
                Self.call("owned", #"{"user":"a/b?c=%2e#"}"#),
            ], with: key, to: server)
        #expect(answers.count == 15)
        #expect(
            answers.map(\.isError) == [false, false, false, false, false, false] + Array(repeating: true, count: 7) + [
                false, false,
            ])
        #expect(answers[0].text.contains(#""name":"alice""#))
        #expect(try JSONContent(answer: Array(answers[1].text.utf8)) == answers[1].structured)
        #expect(answers[2].structured?["cause"]?.text == "owned")
        guard case .array(let entries)? = answers[3].structured?["entries"] else {
            Issue.record("\(answers[3].json)")
            return
        }
        #expect(entries.count == 1)
        #expect(answers[4].structured?["entries"] == .array([]))
        let health = try #require(answers[5].structured)
        #expect(health["ready"] == .bool(true) && health["key"]?["name"]?.text == "tests")
        #expect(health["metrics"]?.text?.hasPrefix("scopeMissing: ") == true)
        #expect(answers[6].text.hasPrefix("parameterInvalid: There is no argument \"name\"."))
        #expect(answers[7].text.hasSuffix("The argument \"user\" is missing."))
        #expect(answers[8].text.hasSuffix("and no path."))
        #expect(answers[9].text.hasPrefix("transactionUnknown: "))
        for answer in answers[10...11] {
            #expect(answer.text.contains("not confirmed"))
            #expect(answer.text.contains("the text \"{collection} {number} to {user}\""))
        }
        #expect(answers[12].text.hasSuffix("The argument \"transaction\" must be a string."))
        // A name is one segment of the path, whatever it has.
        #expect(answers[14].structured?["isUserUnknown"] == .bool(true))
        let gifts = try await till.run("grants", "list", "alice").output
        #expect(gifts.contains("tests") && gifts.contains("Sorry"), "\(gifts)")
        #expect(gifts.split(separator: "\n").count == 2)
    }

    /// A server in the place of a service, with an answer to `GET /v1/key`, and no JSON for other requests.
    private final class OtherServer: Sendable {
        let address: String
        private let task: Task<Void, Never>

        struct NotListening: Error {}

        init(key: String) async throws {
            let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            guard let port = server.channel.localAddress?.port else { throw NotListening() }
            address = "http://127.0.0.1:\(port)"
            task = Task {
                try? await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask { try? await Self.serve(connection, key) }
                        }
                    }
                }
            }
        }

        deinit { task.cancel() }

        /// Answers one request, and reads on until the client closes the connection.
        private static func serve(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ key: String) async throws {
            try await connection.executeThenClose { inbound, outbound in
                var (request, isAnswered) = ("", false)
                for try await part in inbound where !isAnswered {
                    request += String(buffer: part)
                    guard request.contains("\r\n\r\n") else { continue }
                    let body = request.hasPrefix("GET /v1/key ") ? key : "Welcome"
                    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                    try await outbound.write(ByteBuffer(string: head + body))
                    isAnswered = true
                }
            }
        }
    }

    /// Calls tools of a server that is no service.
    private func callTools(of server: OtherServer) async throws -> [Answer] {
        defer { withExtendedLifetime(server) {} }
        let lines = [
            Self.initialize, Self.call("gifts", #"{"user":"alice"}"#),
            Self.call("revoke_gift", #"{"user":"alice","grant":"g","reason":"Typo","confirm":"g"}"#),
        ]
        let result = try await till.run(
            arguments: ["mcp", "--server", server.address], input: lines.joined(separator: "\n"),
            environment: ["TILL_API_KEY": "till_x_y"])
        #expect(result.status == 0)
        return try result.output.split(separator: "\n").dropFirst().map {
            Answer(json: try JSONContent(answer: Array($0.utf8)))
        }
    }

    @Test func `a question whose answer is lost may be asked again, and an action may have been done`() async throws {
        let scopes = #"{"identifier":"x","name":"agent","scopes":["read","grant"]}"#
        let answers = try await callTools(of: try await OtherServer(key: scopes))
        #expect(answers.map(\.isError) == [true, true])
        #expect(answers.allSatisfy { $0.text.hasPrefix("serviceUnreachable: ") }, "\(answers)")
        #expect(answers.first?.text.hasSuffix("Try again.") == true)
        #expect(answers.last?.text.contains("The action may have been done.") == true)
    }

    @Test(arguments: ["Welcome", "[]", #"{"scopes":7}"#])
    func `a request to another server than a service gets an error with its own id`(key: String) async throws {
        let answers = try await callTools(of: try await OtherServer(key: key))
        #expect(answers.map(\.code) == [-32603, -32603])
        #expect(answers.map { $0.json["id"]?.text } == ["gifts", "revoke_gift"])
    }

    @Test func `an API key of a running service is needed`() async throws {
        for (arguments, variables, part) in [
            ([], [:], "Name the running service with --server"),
            (["--server", "http://127.0.0.1:9"], [:], "TILL_API_KEY"),
            (["--server", "http://127.0.0.1:9"], ["TILL_TOKEN": "x"], "TILL_TOKEN is the token of one user"),
        ] as [([String], [String: String], String)] {
            let result = try await till.run(arguments: ["mcp"] + arguments, environment: variables)
            #expect(result.status == 64 && result.output.isEmpty && result.error.contains(part), "\(result.error)")
        }
        let list = Self.initialize + "\n" + #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
        let server = try await ServeProcess(till)
        for address in [server.url.absoluteString, "http://127.0.0.1:9"] {
            let result = try await till.run(
                arguments: ["mcp", "--server", address], input: list, environment: ["TILL_API_KEY": "till_ab_cd"])
            #expect(result.status == 0 && result.output.contains(#""code":-32603"#), "\(result)")
        }
    }
}
