"""Decodes Kubernetes protobuf by hand: answers and watch frames as the documents that JSON would
be.

Written from the published .proto files, independently of the server's own tables. Empty fields are
left out: `pruned` does the same to JSON, so that the two can be compared.
"""

import datetime
import json

MEDIA = "application/vnd.kubernetes.protobuf"
WATCH = MEDIA + ";stream=watch"

# A message is {number: (name, type)}. A type is a message, or one of the words below; [type] is a
# list of it.
TEXT, NUMBER, FLAG, MAP, TIME, MICRO_TIME, EITHER, FIELDS, AMOUNTS = (
    "text", "number", "flag", "map", "time", "micro time", "int or string", "fields", "amounts")


def fields(*names, **numbered):
    """Returns {1: ("a", TEXT)} from words: "a", or "a:type" with a type of the words above."""
    message = {}
    for number, word in enumerate(names, 1):
        if word:
            name, _, kind = word.partition(":")
            message[number] = (name, kind or TEXT)
    for name, (number, kind) in numbered.items():
        message[number] = (name, kind)
    return message


OWNER = fields("kind", "", "name", "uid", "apiVersion", "controller:flag",
               "blockOwnerDeletion:flag")
MANAGED = fields("manager", "operation", "apiVersion", "time:time", "", "fieldsType",
                 "fieldsV1:fields", "subresource")
OBJECT_META = fields(
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation:number",
    "creationTimestamp:time", "deletionTimestamp:time", "deletionGracePeriodSeconds:number",
    "labels:map", "annotations:map", ownerReferences=(13, [OWNER]), finalizers=(14, [TEXT]),
    managedFields=(17, [MANAGED]))
LIST_META = fields("selfLink", "resourceVersion", "continue", "remainingItemCount:number")
METADATA = {1: ("metadata", OBJECT_META)}

CAUSE = fields("reason", "message", "field")
DETAILS = fields("name", "group", "kind", "", "retryAfterSeconds:number", "uid", causes=(4, [CAUSE]))
STATUS = fields("", "status", "message", "reason", "", "code:number", metadata=(1, LIST_META),
                details=(5, DETAILS))

PORT = fields("name", "protocol", "port:number", "targetPort:int or string", "nodePort:number",
              "appProtocol")
AFFINITY = {1: ("clientIP", fields("timeoutSeconds:number"))}
SERVICE_SPEC = fields(
    "", "selector:map", "clusterIP", "type", "", "", "sessionAffinity", "loadBalancerIP", "",
    "externalName", "externalTrafficPolicy", "healthCheckNodePort:number",
    "publishNotReadyAddresses:flag", ports=(1, [PORT]), externalIPs=(5, [TEXT]),
    loadBalancerSourceRanges=(9, [TEXT]), sessionAffinityConfig=(14, AFFINITY),
    ipFamilyPolicy=(17, TEXT), clusterIPs=(18, [TEXT]), ipFamilies=(19, [TEXT]),
    allocateLoadBalancerNodePorts=(20, FLAG), loadBalancerClass=(21, TEXT),
    internalTrafficPolicy=(22, TEXT), trafficDistribution=(23, TEXT))
SERVICE = {**METADATA, 2: ("spec", SERVICE_SPEC), 3: ("status", {1: ("loadBalancer", {})})}
NAMESPACE = {**METADATA, 2: ("spec", {1: ("finalizers", [TEXT])}), 3: ("status", fields("phase"))}

REFERENCE = fields("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion",
                   "fieldPath")
SOURCE = fields("component", "host")
SERIES = fields("count:number", "lastObservedTime:micro time")
EVENT = fields(
    "", "", "reason", "message", "", "firstTimestamp:time", "lastTimestamp:time", "count:number",
    "type", "eventTime:micro time", "", "action", "", "reportingComponent", "reportingInstance",
    metadata=(1, OBJECT_META), involvedObject=(2, REFERENCE), source=(5, SOURCE),
    series=(11, SERIES), related=(13, REFERENCE))
EVENTS_EVENT = fields(
    "", "eventTime:micro time", "", "reportingController", "reportingInstance", "action", "reason",
    "", "", "note", "type", "", "deprecatedFirstTimestamp:time", "deprecatedLastTimestamp:time",
    "deprecatedCount:number", metadata=(1, OBJECT_META), series=(3, SERIES),
    regarding=(8, REFERENCE), related=(9, REFERENCE), deprecatedSource=(12, SOURCE))
LEASE = {**METADATA, 2: ("spec", fields(
    "holderIdentity", "leaseDurationSeconds:number", "acquireTime:micro time",
    "renewTime:micro time", "leaseTransitions:number"))}
IP_ADDRESS = {**METADATA, 2: ("spec", {1: ("parentRef", fields(
    "group", "resource", "namespace", "name"))})}

ENDPOINT_ADDRESS = fields("ip", "", "hostname", "nodeName", targetRef=(2, REFERENCE))
SUBSET = {1: ("addresses", [ENDPOINT_ADDRESS]), 2: ("notReadyAddresses", [ENDPOINT_ADDRESS]),
          3: ("ports", [fields("name", "port:number", "protocol", "appProtocol")])}
ENDPOINTS = {**METADATA, 2: ("subsets", [SUBSET])}
HINTS = {1: ("forZones", [fields("name")]), 2: ("forNodes", [fields("name")])}
ENDPOINT = fields(
    "", "", "hostname", "", "deprecatedTopology:map", "nodeName", "zone", addresses=(1, [TEXT]),
    conditions=(2, fields("ready:flag", "serving:flag", "terminating:flag")),
    targetRef=(4, REFERENCE), hints=(8, HINTS))
ENDPOINT_SLICE = {**METADATA, 2: ("endpoints", [ENDPOINT]), 4: ("addressType", TEXT),
                  3: ("ports", [fields("name", "protocol", "port:number", "appProtocol")])}

NODE_SPEC = fields("podCIDR", "externalID", "providerID", "unschedulable:flag",
                   taints=(5, [fields("key", "value", "effect", "timeAdded:time")]),
                   podCIDRs=(7, [TEXT]))
NODE_CONDITION = fields("type", "status", "lastHeartbeatTime:time", "lastTransitionTime:time",
                        "reason", "message")
NODE_INFO = fields("machineID", "systemUUID", "bootID", "kernelVersion", "osImage",
                   "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion",
                   "operatingSystem", "architecture")
NODE_STATUS = fields("capacity:amounts", "allocatable:amounts", "phase",
                     conditions=(4, [NODE_CONDITION]), addresses=(5, [fields("type", "address")]),
                     daemonEndpoints=(6, {1: ("kubeletEndpoint", fields("Port:number"))}),
                     nodeInfo=(7, NODE_INFO))
NODE = {**METADATA, 2: ("spec", NODE_SPEC), 3: ("status", NODE_STATUS)}


def list_of(message):
    return {1: ("metadata", LIST_META), 2: ("items", [message])}


KINDS = {("v1", "Status"): STATUS}
for _version, _kind, _message in (
        ("v1", "Namespace", NAMESPACE), ("v1", "Service", SERVICE), ("v1", "Event", EVENT),
        ("events.k8s.io/v1", "Event", EVENTS_EVENT), ("coordination.k8s.io/v1", "Lease", LEASE),
        ("networking.k8s.io/v1", "IPAddress", IP_ADDRESS), ("v1", "Endpoints", ENDPOINTS),
        ("discovery.k8s.io/v1", "EndpointSlice", ENDPOINT_SLICE), ("v1", "Node", NODE),
        ("meta.k8s.io/v1", "PartialObjectMetadata", METADATA)):
    KINDS[_version, _kind] = _message
    KINDS[_version, _kind + "List"] = list_of(_message)
KINDS["meta.k8s.io/v1beta1", "PartialObjectMetadata"] = METADATA
KINDS["meta.k8s.io/v1beta1", "PartialObjectMetadataList"] = {
    1: ("items", [METADATA]), 2: ("metadata", LIST_META)}


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7f) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def read(data):
    """Yields (number, content) of each field. The content is a number or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        content, at = varint(data, at)
        if tag & 7 == 2:
            if at + content > len(data):
                raise ValueError("a field is longer than its message")
            content, at = data[at:at + content], at + content
        elif tag & 7 == 0:
            content -= (content >> 63) << 64
        else:
            raise ValueError(f"wire type {tag & 7}")
        yield tag >> 3, content


def time_text(data, micros):
    parts = dict(read(data))
    if not parts:
        return None
    moment = datetime.datetime.fromtimestamp(parts.get(1, 0), datetime.timezone.utc)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{parts.get(2, 0) // 1000:06d}Z" if micros else f"{text}Z"


def value(kind, content):
    if isinstance(kind, dict):
        return decode(content, kind)
    if kind == TEXT:
        return content.decode()
    if kind in (TIME, MICRO_TIME):
        return time_text(content, kind == MICRO_TIME)
    if kind == FLAG:
        return bool(content)
    if kind == EITHER:
        parts = dict(read(content))
        return parts[3].decode() if parts.get(1) else parts.get(2, 0)
    if kind == FIELDS:
        return json.loads(dict(read(content))[1])
    return content


def decode(data, message):
    """Decodes a message. Fails on a field that the message does not have."""
    document = {}
    for number, content in read(data):
        name, kind = message[number]
        if isinstance(kind, list):
            document.setdefault(name, []).append(value(kind[0], content))
        elif kind in (MAP, AMOUNTS):
            entry = dict(read(content))
            text = dict(read(entry[2])).get(1, b"") if kind == AMOUNTS else entry[2]
            document.setdefault(name, {})[entry[1].decode()] = text.decode()
        else:
            document[name] = value(kind, content)
    return document


def document(data):
    """Returns the object in an envelope, with its kind and apiVersion."""
    if data[:4] != b"k8s\0":
        raise ValueError(f"no envelope: {data[:40]!r}")
    parts = dict(read(data[4:]))
    kind = {name: text.decode() for name, text in
            zip(("apiVersion", "kind"), (text for _, text in read(parts[1])))}
    return {**kind, **pruned(decode(parts[2], KINDS[kind["apiVersion"], kind["kind"]]))}


def pruned(tree):
    """Removes empty members, which protobuf does not distinguish from those that are not set."""
    if isinstance(tree, dict):
        members = {name: pruned(each) for name, each in tree.items()}
        return {name: each for name, each in members.items() if each not in ("", 0, None, [], {})}
    return [pruned(each) for each in tree] if isinstance(tree, list) else tree


def frame(response):
    """Returns the next event of a watch as (type, object), or None at its end."""
    head = response.read(4)
    if not head:
        return None
    event = dict(read(response.read(int.from_bytes(head, "big"))))
    return event[1].decode(), document(dict(read(event[2]))[1])
